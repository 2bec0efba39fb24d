// The states of a panel that are not data: loading, empty, partial, error; each says why and what to do.
import type { ComponentChildren, JSX } from 'preact';

export type NoticeKind = 'empty' | 'partial' | 'error';

interface NoticeProps {
  readonly kind: NoticeKind;
  readonly title: string;
  readonly children?: ComponentChildren;
  /** True when the notice is all there is on the page. */
  readonly heading?: boolean;
}

export const Notice = ({ kind, title, children, heading }: NoticeProps): JSX.Element => (
  <div class={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
    {heading === true ? <h1 class="notice-title">{title}</h1> : <p class="notice-title">{title}</p>}
    {children}
  </div>
);

/** Grey rows where the answer will stand; they appear only when it takes a while. */
export const Skeleton = ({ rows, label }: { rows: number; label: string }): JSX.Element => (
  <div class="skeleton" role="status" aria-label={label}>
    {Array.from({ length: rows }, (_, index) => (
      <div class="skeleton-row" key={index} />
    ))}
  </div>
);
