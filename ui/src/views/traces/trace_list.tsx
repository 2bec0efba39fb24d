// The list of traces: one row, one click, and the slowest span is explained.
import type { JSX } from 'preact';
import { formatDuration, formatShare, plural } from '../../base/format';
import { formatClock, formatDateTime } from '../../base/time';
import type { TraceSummary } from '../../model/trace';
import { tracePath } from '../../state/url';
import { serviceClass } from '../../widgets/waterfall_rows';

const Row = ({ trace, longest }: { trace: TraceSummary; longest: number }): JSX.Element => {
  const { slowest } = trace;
  const self = slowest && trace.durationNs > 0 ? slowest.selfNs / trace.durationNs : 0;
  return (
    // biome-ignore lint/a11y/useSemanticElements: the rows become cards on a phone
    // biome-ignore lint/a11y/useFocusableInteractive: the link inside takes the focus
    <div class="trace-row" role="row" data-testid="trace-row" data-trace-id={trace.id}>
      {/* biome-ignore lint/a11y/useSemanticElements: see the row */}
      <div class="cell c-duration" role="cell">
        <span class="number strong">{formatDuration(trace.durationNs)}</span>
        <span class="meter" aria-hidden="true">
          <span
            class="meter-fill"
            style={{ '--w': `${longest > 0 ? (trace.durationNs / longest) * 100 : 0}%` }}
          />
        </span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see the row */}
      <div class="cell c-root" role="cell">
        <a class="row-link" href={tracePath(trace.id, slowest?.id)}>
          {trace.root.name === '' ? trace.id : trace.root.name}
        </a>
        <span class="muted">
          <span class={`stripe ${serviceClass(trace.root.service)}`} />
          {trace.root.service}
        </span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see the row */}
      <div class="cell c-slowest" role="cell">
        {slowest === undefined ? null : (
          <>
            <span class="slow-name">{slowest.name}</span>
            <span class="muted">
              <span class={`stripe ${serviceClass(slowest.service)}`} />
              {slowest.service}
            </span>
          </>
        )}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see the row */}
      <div class="cell c-self" role="cell">
        {slowest === undefined ? null : (
          <>
            <span class="number">
              {formatDuration(slowest.selfNs)} <span class="muted">{formatShare(self)}</span>
            </span>
            <span class="meter" aria-hidden="true">
              <span class="meter-fill hot" style={{ '--w': `${Math.min(100, self * 100)}%` }} />
            </span>
          </>
        )}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see the row */}
      <div class="cell c-counts number" role="cell">
        <span>{plural(trace.spans, 'span')}</span>
        {trace.errors > 0 ? <span class="error-text">{plural(trace.errors, 'error')}</span> : null}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see the row */}
      <div class="cell c-time number" role="cell" title={formatDateTime(trace.startNs)}>
        <span class="muted">{formatClock(trace.startNs).slice(0, 8)}</span>
      </div>
    </div>
  );
};

const kColumns = ['Duration', 'Trace', 'Slowest span', 'Its own time', 'Spans', 'Start'] as const;

export const TraceList = ({ traces }: { traces: readonly TraceSummary[] }): JSX.Element => {
  const longest = traces.reduce((most, trace) => Math.max(most, trace.durationNs), 0);
  return (
    // biome-ignore lint/a11y/useSemanticElements: the rows become cards on a phone
    <div class="trace-table" role="table" aria-label="Traces">
      {/* biome-ignore lint/a11y/useSemanticElements: see the table */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: a header row is not chosen */}
      <div class="trace-row head" role="row">
        {kColumns.map((name, index) => (
          // biome-ignore lint/a11y/useSemanticElements: see the table
          // biome-ignore lint/a11y/useFocusableInteractive: see the row
          <div
            key={name}
            class={`cell${index === 0 || index >= 4 ? ' number' : ''}`}
            role="columnheader"
          >
            {name}
          </div>
        ))}
      </div>
      {traces.map((trace) => (
        <Row key={trace.id} trace={trace} longest={longest} />
      ))}
    </div>
  );
};
