// The waterfall: a treegrid of which only the rows on the screen exist.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import type { SpanId } from '../base/brand';
import { formatDuration, plural } from '../base/format';
import { criticalPath } from '../logic/trace/critical';
import { buildTree, pathTo, type Row, visibleRows } from '../logic/trace/tree';
import type { Trace } from '../model/trace';
import { GroupRowView, rowId, SpanRowView } from './waterfall_rows';

const kRow = 24;
const kOverscan = 12;
const kTicks = [0, 0.25, 0.5, 0.75];

interface WaterfallProps {
  readonly trace: Trace;
  readonly chosen: SpanId | undefined;
  readonly onChoose: (id: SpanId) => void;
}

const without = (set: ReadonlySet<string>, keys: readonly string[]): ReadonlySet<string> => {
  if (!keys.some((key) => set.has(key))) return set;
  return new Set([...set].filter((key) => !keys.includes(key)));
};

const toggled = (set: ReadonlySet<string>, key: string): ReadonlySet<string> => {
  const next = new Set(set);
  if (!next.delete(key)) next.add(key);
  return next;
};

/** Scrolls so that the row is on the screen, below the sticky header. */
const reveal = (element: HTMLElement | null, index: number): void => {
  if (!element || index < 0) return;
  const rowTop = index * kRow;
  const room = element.clientHeight - kRow;
  if (rowTop < element.scrollTop) element.scrollTop = rowTop;
  else if (rowTop + kRow > element.scrollTop + room) element.scrollTop = rowTop + kRow - room;
};

export const Waterfall = ({ trace, chosen, onChoose }: WaterfallProps): JSX.Element => {
  const base = useId();
  const box = useRef<HTMLDivElement>(null);
  const tree = useMemo(() => buildTree(trace), [trace]);
  const critical = useMemo(() => criticalPath(tree), [tree]);
  const closed = useSignal<ReadonlySet<string>>(new Set());
  const opened = useSignal<ReadonlySet<string>>(new Set());
  const active = useSignal<string | undefined>(chosen);
  const top = useSignal(0);
  const height = useSignal(600);
  const closedNow = closed.value;
  const openedNow = opened.value;
  const rows = useMemo(() => visibleRows(tree, closedNow, openedNow), [tree, closedNow, openedNow]);

  useEffect(() => {
    if (chosen === undefined) return;
    const way = pathTo(tree, chosen);
    closed.value = without(closed.peek(), way.spans);
    if (way.groups.some((key) => !opened.peek().has(key))) {
      opened.value = new Set([...opened.peek(), ...way.groups]);
    }
    active.value = chosen;
    const shown = visibleRows(tree, closed.peek(), opened.peek());
    reveal(
      box.current,
      shown.findIndex((row) => row.key === chosen),
    );
  }, [tree, chosen, closed, opened, active]);

  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [height]);

  const toggle = (row: Row): void => {
    active.value = row.key;
    if (row.kind === 'group') opened.value = toggled(opened.peek(), row.key);
    else if (row.hasChildren) closed.value = toggled(closed.peek(), row.key);
  };
  const at = Math.max(
    0,
    rows.findIndex((row) => row.key === active.value),
  );
  const current = rows[at];
  const go = (index: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, index));
    active.value = rows[next]?.key;
    reveal(box.current, next);
  };
  const isOpen = current?.open === true && (current.kind === 'group' || current.hasChildren);
  const collapse = (): void => {
    if (current && isOpen) toggle(current);
    else {
      const depth = current?.depth ?? 0;
      for (let i = at - 1; i >= 0; i--)
        if ((rows[i]?.depth ?? 0) < depth) {
          go(i);
          return;
        }
    }
  };
  const expand = (): void => {
    if (!current) return;
    if (isOpen) go(at + 1);
    else toggle(current);
  };
  const enter = (): void => {
    if (current?.kind === 'group') toggle(current);
    else if (current) onChoose(current.span.id);
  };
  const page = Math.max(1, Math.floor(height.value / kRow) - 2);
  const keys: Readonly<Record<string, () => void>> = {
    j: () => go(at + 1),
    ArrowDown: () => go(at + 1),
    k: () => go(at - 1),
    ArrowUp: () => go(at - 1),
    PageDown: () => go(at + page),
    PageUp: () => go(at - page),
    Home: () => go(0),
    End: () => go(rows.length - 1),
    h: collapse,
    ArrowLeft: collapse,
    l: expand,
    ArrowRight: expand,
    Enter: enter,
    ' ': enter,
  };

  const first = Math.max(0, Math.floor(top.value / kRow) - kOverscan);
  const last = Math.min(rows.length, Math.ceil((top.value + height.value) / kRow) + kOverscan);
  const total = trace.durationNs;
  return (
    <div
      ref={box}
      class="waterfall"
      role="treegrid"
      tabIndex={0}
      aria-label={`Spans of the trace, ${plural(trace.spans.length, 'span')}. j and k move, h and l fold, Enter chooses.`}
      aria-rowcount={rows.length + 1}
      {...(current && at >= first && at < last
        ? { 'aria-activedescendant': rowId(base, current.key) }
        : {})}
      onScroll={(event) => {
        top.value = event.currentTarget.scrollTop;
      }}
      onKeyDown={(event) => {
        const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
        if (!act) return;
        event.preventDefault();
        act();
      }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: see the treegrid */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the header row is not chosen */}
      <div class="row head" role="row" aria-rowindex={1}>
        {/* biome-ignore lint/a11y/useSemanticElements: see the treegrid */}
        {/* biome-ignore lint/a11y/useFocusableInteractive: see the row */}
        <div class="cell" role="columnheader">
          Span
        </div>
        {/* biome-ignore lint/a11y/useSemanticElements: see the treegrid */}
        {/* biome-ignore lint/a11y/useFocusableInteractive: see the row */}
        <div class="cell number" role="columnheader">
          Duration
        </div>
        {/* biome-ignore lint/a11y/useSemanticElements: see the treegrid */}
        {/* biome-ignore lint/a11y/useFocusableInteractive: see the row */}
        <div class="cell axis" role="columnheader" aria-label="Time">
          {kTicks.map((share) => (
            <span key={share} class="tick" style={{ '--l': `${share * 100}%` }}>
              {formatDuration(total * share)}
            </span>
          ))}
        </div>
      </div>
      <div class="waterfall-space" style={{ '--space': `${rows.length * kRow}px` }}>
        <div class="waterfall-rows" style={{ '--top': `${first * kRow}px` }}>
          {rows
            .slice(first, last)
            .map((row, offset) =>
              row.kind === 'span' ? (
                <SpanRowView
                  key={row.key}
                  base={base}
                  row={row}
                  index={first + offset}
                  total={total}
                  active={row.key === current?.key}
                  selected={row.key === chosen}
                  critical={critical.get(row.span.id) ?? []}
                  onToggle={toggle}
                  onChoose={(of) => onChoose(of.span.id)}
                />
              ) : (
                <GroupRowView
                  key={row.key}
                  base={base}
                  row={row}
                  index={first + offset}
                  total={total}
                  active={row.key === current?.key}
                  criticalOf={(id) => critical.get(id) ?? []}
                  onToggle={toggle}
                />
              ),
            )}
        </div>
      </div>
    </div>
  );
};
