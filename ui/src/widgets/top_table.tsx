// Functions by their own time, with intervals, and the lines that cost it.
import { useSignal } from '@preact/signals';
import { Fragment, type JSX } from 'preact';
import { formatShare, formatShareInterval, formatValue, plural } from '../base/format';
import { placeOf } from '../logic/flame/node_facts';
import { matcherOf } from '../logic/flame/search';
import { typeWords } from '../logic/trace/words';
import type { Profile, TopFunction } from '../model/explanation';
import { Icon } from './icons';

const kFirst = 30;

type SortKey = 'self' | 'total';

interface TopTableProps {
  readonly profile: Profile;
  readonly find: string;
  readonly onFind: (text: string) => void;
}

const Lines = ({ entry, unit, whole }: { entry: TopFunction; unit: string; whole: number }) => (
  <tr class="top-lines">
    <td colSpan={5}>
      <table class="lines" aria-label={`Lines of ${entry.function}`}>
        <tbody>
          {[...entry.lines]
            .sort((a, b) => b.total - a.total)
            .map((line) => (
              <tr key={line.line}>
                <td>
                  <code>{placeOf(entry.file, line.line)}</code>
                </td>
                <td class="number">{formatValue(line.self, unit)}</td>
                <td class="number">{formatValue(line.total, unit)}</td>
                <td class="number">{formatShare(whole > 0 ? line.total / whole : 0)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </td>
  </tr>
);

export const TopTable = ({ profile, find, onFind }: TopTableProps): JSX.Element => {
  const sort = useSignal<SortKey>('self');
  const all = useSignal(false);
  const open = useSignal<ReadonlySet<string>>(new Set());
  const { unit } = typeWords(profile.type);
  const by = sort.value;
  const matches = matcherOf(find);
  const sorted = [...profile.top].sort((a, b) => b[by] - a[by] || b.total - a.total);
  const shown = all.value ? sorted : sorted.slice(0, kFirst);
  const toggle = (name: string): void => {
    const next = new Set(open.value);
    if (!next.delete(name)) next.add(name);
    open.value = next;
  };
  const header = (key: SortKey): JSX.Element => (
    <th class="number" aria-sort={by === key ? 'descending' : 'none'}>
      <button
        type="button"
        class="link"
        onClick={() => {
          sort.value = key;
        }}
      >
        {key}
        {by === key ? ' ↓' : ''}
      </button>
    </th>
  );
  return (
    <div class="table-box">
      <table class="top" aria-label="Functions by time">
        <thead>
          <tr>
            <th>function</th>
            {header('self')}
            {header('total')}
            <th class="number">share, 95 %</th>
            <th class="number">samples</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((entry) => {
            const expanded = open.value.has(entry.function);
            return (
              <Fragment key={entry.function}>
                <tr
                  data-testid="top-row"
                  data-function={entry.function}
                  class={matches?.(entry.function) === true ? 'hit-row' : ''}
                >
                  <td>
                    <div class="top-name">
                      {entry.lines.length > 0 ? (
                        <button
                          type="button"
                          class="twisty"
                          aria-expanded={expanded}
                          aria-label={`Lines of ${entry.function}`}
                          onClick={() => toggle(entry.function)}
                        >
                          <Icon name={expanded ? 'down' : 'right'} />
                        </button>
                      ) : (
                        <span class="twisty" />
                      )}
                      <span class="top-words">
                        <button
                          type="button"
                          class="link mono"
                          title="Highlight in the flame graph"
                          onClick={() => onFind(find === entry.function ? '' : entry.function)}
                        >
                          {entry.function}
                        </button>
                        <code class="muted place">{placeOf(entry.file, entry.line)}</code>
                      </span>
                    </div>
                  </td>
                  <td class="number">{formatValue(entry.self, unit)}</td>
                  <td class="number">{formatValue(entry.total, unit)}</td>
                  <td class="number">
                    {formatShare(entry.share)}{' '}
                    <span class="muted interval">
                      {formatShareInterval(entry.shareLow, entry.shareHigh)}
                    </span>
                  </td>
                  <td class="number">{entry.samples}</td>
                </tr>
                {expanded ? <Lines entry={entry} unit={unit} whole={profile.total} /> : null}
              </Fragment>
            );
          })}
        </tbody>
      </table>
      {sorted.length > shown.length ? (
        <button
          type="button"
          class="button"
          onClick={() => {
            all.value = true;
          }}
        >
          {`Show all ${plural(sorted.length, 'function')}`}
        </button>
      ) : null}
    </div>
  );
};
