// Why there is no profile, and what to do about it.
import type { JSX } from 'preact';
import { formatDateTime } from '../../base/time';
import { reasonTitle, typeWords } from '../../logic/trace/words';
import type { Missing } from '../../model/explanation';

const nearest = (item: Missing): string => {
  const before = item.beforeNs === undefined ? '' : `before: ${formatDateTime(item.beforeNs)}`;
  const after = item.afterNs === undefined ? '' : `after: ${formatDateTime(item.afterNs)}`;
  const parts = [before, after].filter((part) => part !== '');
  return parts.length === 0 ? '' : `Nearest profiles ${parts.join(', ')}`;
};

interface MissingListProps {
  readonly missing: readonly Missing[];
  readonly onWiden: (() => void) | undefined;
}

export const MissingList = ({ missing, onWiden }: MissingListProps): JSX.Element | null =>
  missing.length === 0 ? null : (
    <ul class="missing-list" aria-label="What is missing">
      {missing.map((item) => (
        <li
          key={`${item.type}/${item.reason}`}
          class="notice partial"
          data-testid="missing"
          data-reason={item.reason}
        >
          <p class="notice-title">
            {item.type === '' ? '' : `${typeWords(item.type).label}: `}
            {reasonTitle(item.reason)}
          </p>
          {item.detail === '' ? null : <p>{item.detail}</p>}
          {nearest(item) === '' ? null : <p class="number">{nearest(item)}</p>}
          {item.fix === '' ? null : <p class="fix">{item.fix}</p>}
        </li>
      ))}
      {onWiden === undefined ? null : (
        <li>
          <button type="button" class="button" onClick={onWiden}>
            Show the service's profile of that time (contains other requests)
          </button>
        </li>
      )}
    </ul>
  );
