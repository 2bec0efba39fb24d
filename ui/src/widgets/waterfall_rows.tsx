// One row of the waterfall: name, duration, and the bar on the trace's time axis.
import type { JSX } from 'preact';
import type { SpanId } from '../base/brand';
import { formatDuration, plural } from '../base/format';
import { bucketOf } from '../base/hash';
import {
  type GroupRow,
  isError,
  mergeSegments,
  type Segment,
  type SpanRow,
} from '../logic/trace/tree';
import { Icon } from './icons';

export const serviceClass = (service: string): string => `svc${bucketOf(service, 12)}`;

export const rowId = (base: string, key: string): string => `${base}-${key}`;

const kMaxIndent = 16;
const percent = (share: number): string => `${(share * 100).toFixed(3)}%`;

interface BarsProps {
  readonly segments: readonly Segment[];
  readonly service: string;
  readonly critical: readonly Segment[];
  readonly total: number;
}

const Bars = ({ segments, service, critical, total }: BarsProps): JSX.Element => {
  const scale = total > 0 ? 1 / total : 0;
  const place = (segment: Segment) => ({
    '--l': percent(segment.start * scale),
    '--w': percent((segment.end - segment.start) * scale),
  });
  return (
    <div class="bars" aria-hidden="true">
      {segments.map((segment) => (
        <div key={segment.start} class={`bar ${serviceClass(service)}`} style={place(segment)} />
      ))}
      {critical.map((segment) => (
        <div key={`c${segment.start}`} class="bar critical" style={place(segment)} />
      ))}
    </div>
  );
};

interface RowProps<R> {
  readonly base: string;
  readonly row: R;
  readonly index: number;
  readonly total: number;
  readonly active: boolean;
  readonly onToggle: (row: R) => void;
}

const Twisty = ({ open, onClick }: { open: boolean; onClick: () => void }): JSX.Element => (
  <button
    type="button"
    class="twisty"
    tabIndex={-1}
    aria-label={open ? 'Collapse' : 'Expand'}
    onClick={(event) => {
      event.stopPropagation();
      onClick();
    }}
  >
    <Icon name={open ? 'down' : 'right'} />
  </button>
);

interface SpanRowProps extends RowProps<SpanRow> {
  readonly selected: boolean;
  readonly critical: readonly Segment[];
  readonly onChoose: (row: SpanRow) => void;
}

export const SpanRowView = (props: SpanRowProps): JSX.Element => {
  const { row, total } = props;
  const { span } = row;
  const samples = [...span.samples.values()].reduce((sum, count) => sum + count, 0);
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a treegrid are laid out on a grid, not a table
    // biome-ignore lint/a11y/useKeyWithClickEvents: the treegrid handles the keys of its active row
    <div
      id={rowId(props.base, row.key)}
      class={`row${props.selected ? ' selected' : ''}${props.active ? ' active' : ''}`}
      role="row"
      tabIndex={-1}
      data-testid="span-row"
      data-span-id={span.id}
      aria-level={row.depth + 1}
      aria-rowindex={props.index + 2}
      aria-selected={props.selected}
      {...(row.hasChildren ? { 'aria-expanded': row.open } : {})}
      style={{ '--depth': String(Math.min(kMaxIndent, row.depth)) }}
      onClick={() => props.onChoose(row)}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: see the row */}
      <div class="cell name" role="gridcell" tabIndex={-1} title={`${span.service} · ${span.name}`}>
        {row.hasChildren ? (
          <Twisty open={row.open} onClick={() => props.onToggle(row)} />
        ) : (
          <span class="twisty" />
        )}
        <span class={`stripe ${serviceClass(span.service)}`} />
        <span class="row-name">{span.name}</span>
        <span class="row-service">{span.service}</span>
        {isError(span) ? <span class="badge error">error</span> : null}
        {samples > 0 ? (
          <span class="badge samples" title={`${plural(samples, 'sample')} carry this span's id`}>
            <Icon name="samples" />
            {samples}
            <span class="hidden"> samples</span>
          </span>
        ) : null}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see the row */}
      <div class="cell number" role="gridcell" tabIndex={-1}>
        {formatDuration(span.durationNs)}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see the row */}
      <div class="cell" role="gridcell" tabIndex={-1}>
        {props.critical.length > 0 ? <span class="hidden">on the critical path</span> : null}
        <Bars
          segments={[{ start: span.offsetNs, end: span.offsetNs + span.durationNs }]}
          service={span.service}
          critical={mergeSegments(props.critical, total / 2000)}
          total={total}
        />
      </div>
    </div>
  );
};

interface GroupRowProps extends RowProps<GroupRow> {
  readonly criticalOf: (id: SpanId) => readonly Segment[];
}

export const GroupRowView = (props: GroupRowProps): JSX.Element => {
  const { row, total } = props;
  const segments = mergeSegments(
    row.members.map((span) => ({ start: span.offsetNs, end: span.offsetNs + span.durationNs })),
    total / 400,
  );
  const critical = mergeSegments(
    row.members.flatMap((span) => props.criticalOf(span.id)),
    total / 400,
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a treegrid are laid out on a grid, not a table
    // biome-ignore lint/a11y/useKeyWithClickEvents: the treegrid handles the keys of its active row
    <div
      id={rowId(props.base, row.key)}
      class={`row group${props.active ? ' active' : ''}`}
      role="row"
      tabIndex={-1}
      data-testid="group-row"
      aria-level={row.depth + 1}
      aria-rowindex={props.index + 2}
      aria-expanded={row.open}
      style={{ '--depth': String(Math.min(kMaxIndent, row.depth)) }}
      onClick={() => props.onToggle(row)}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: see the row */}
      <div class="cell name" role="gridcell" tabIndex={-1} title={`${row.service} · ${row.name}`}>
        <Twisty open={row.open} onClick={() => props.onToggle(row)} />
        <span class={`stripe ${serviceClass(row.service)}`} />
        <span class="badge count">× {row.members.length}</span>
        <span class="row-name">{row.name}</span>
        <span class="row-service">{row.service}</span>
        {row.errors > 0 ? <span class="badge error">{plural(row.errors, 'error')}</span> : null}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see the row */}
      <div class="cell number" role="gridcell" tabIndex={-1} title="Sum of all of them">
        {formatDuration(row.totalNs)}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see the row */}
      <div class="cell" role="gridcell" tabIndex={-1}>
        <Bars segments={segments} service={row.service} critical={critical} total={total} />
      </div>
    </div>
  );
};
