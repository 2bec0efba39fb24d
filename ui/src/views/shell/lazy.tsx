// A page loaded when it is first opened; a failed load says so and can be tried again.
import { useSignal } from '@preact/signals';
import type { ComponentType, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Notice, Skeleton } from '../../widgets/notice';

interface LazyProps {
  readonly load: () => Promise<ComponentType>;
}

export const Lazy = ({ load }: LazyProps): JSX.Element => {
  const loaded = useSignal<{ page: ComponentType } | 'failed' | undefined>(undefined);
  useEffect(() => {
    load().then(
      (page) => {
        loaded.value = { page };
      },
      () => {
        loaded.value = 'failed';
      },
    );
  }, [load, loaded]);
  const state = loaded.value;
  if (state === undefined) return <Skeleton rows={8} label="Loading the page" />;
  if (state === 'failed') {
    return (
      <Notice kind="error" title="This page could not be loaded" heading>
        <p>The server may have been updated or stopped.</p>
        <button type="button" class="button" onClick={() => window.location.reload()}>
          Load again
        </button>
      </Notice>
    );
  }
  const Page = state.page;
  return <Page />;
};
