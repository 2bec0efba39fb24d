// The span's wall time by what it was doing: one bar, and a legend with numbers and intervals.
import type { JSX } from 'preact';
import { formatDuration, formatDurationInterval, formatShare } from '../base/format';
import { classLabel, ledgerParts, sourceLabel } from '../logic/trace/ledger';
import type { Ledger } from '../model/explanation';

const swatch = (name: string): string => `k-${name.replaceAll('_', '-')}`;

export const LedgerBar = ({ ledger }: { ledger: Ledger }): JSX.Element => {
  const parts = ledgerParts(ledger);
  return (
    <section class="ledger" data-testid="ledger" aria-label="Where the time went">
      <div class="ledger-bar" aria-hidden="true">
        {parts.map((part) => (
          <div
            key={part.item.name}
            class={`ledger-part ${swatch(part.item.name)}`}
            style={{ '--w': `${part.width / 100}%` }}
            title={`${classLabel(part.item.name)} ${formatDuration(part.item.ns)}`}
          />
        ))}
      </div>
      <ul class="ledger-legend">
        {parts.map(({ item, share }) => (
          <li key={item.name} data-testid="ledger-class" data-class={item.name}>
            <span class={`swatch ${swatch(item.name)}`} aria-hidden="true" />
            <span class="ledger-name">{classLabel(item.name)}</span>
            <span class="number strong">{formatDuration(item.ns)}</span>
            <span class="number muted">{formatShare(share)}</span>
            <span class="ledger-note muted">
              {item.highNs > item.lowNs ? (
                <span class="number">{formatDurationInterval(item.lowNs, item.highNs)}</span>
              ) : null}
              {sourceLabel(item) === '' ? null : <span>{sourceLabel(item)}</span>}
              {item.hint === '' ? null : <span>{item.hint}</span>}
            </span>
          </li>
        ))}
      </ul>
      {ledger.parallelNs > 0 || ledger.cpuNs > ledger.durationNs ? (
        <p class="muted small">
          {`CPU over all threads ${formatDuration(ledger.cpuNs)}`}
          {ledger.parallelNs > 0 ? `, of it ${formatDuration(ledger.parallelNs)} in parallel` : ''}
        </p>
      ) : null}
    </section>
  );
};
