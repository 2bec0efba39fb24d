// A failed request in words: what failed, why, and the button to try again.
import type { JSX } from 'preact';
import type { ApiError } from '../../api/client';
import { Notice } from '../../widgets/notice';

interface ErrorNoticeProps {
  readonly what: string;
  readonly error: ApiError;
  readonly onRetry: () => void;
  /** True when the notice is all there is on the page. */
  readonly heading?: boolean;
}

export const ErrorNotice = ({ what, error, onRetry, heading }: ErrorNoticeProps): JSX.Element => (
  <Notice kind="error" title={what} heading={heading === true}>
    <p>
      {error.code === 'unreachable'
        ? `The server does not answer (${error.message}). Is it running and reachable from here?`
        : `${error.message} (${[error.code, error.field].filter((part) => part !== '').join(', ')})`}
    </p>
    <button type="button" class="button" onClick={onRetry}>
      Try again
    </button>
  </Notice>
);
