// Copies a text and says so for a moment.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { Icon } from './icons';

interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
  readonly caption?: string;
}

export const CopyButton = ({ text, label, caption }: CopyButtonProps): JSX.Element => {
  const state = useSignal<'idle' | 'done' | 'failed'>('idle');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      state.value = 'done';
    } catch {
      state.value = 'failed';
    }
    setTimeout(() => {
      state.value = 'idle';
    }, 1500);
  };
  const said = state.value === 'done' ? 'Copied' : 'Copying is not allowed here';
  return (
    <button type="button" class="button quiet" title={label} aria-label={label} onClick={copy}>
      <Icon name={state.value === 'done' ? 'check' : 'copy'} />
      {caption === undefined ? null : <span>{caption}</span>}
      <span class="hidden" role="status">
        {state.value === 'idle' ? '' : said}
      </span>
    </button>
  );
};
