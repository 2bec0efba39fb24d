// The ledger as a bar: widths that sum to the whole exactly, and the words for its classes.
import type { Ledger, LedgerClass } from '../../model/explanation';

export const kLedgerOrder: readonly string[] = [
  'on_cpu',
  'gc',
  'runnable',
  'lock',
  'io',
  'net',
  'wait',
  'sleep',
  'off_cpu',
  'child',
  'unobserved',
];

const kLabels: Readonly<Record<string, string>> = {
  on_cpu: 'On CPU',
  gc: 'Garbage collection',
  runnable: 'Waiting for a core',
  lock: 'Lock',
  io: 'Disk',
  net: 'Network',
  wait: 'Waiting',
  sleep: 'Sleeping',
  off_cpu: 'Blocked',
  child: 'In child spans',
  unobserved: 'Not observed',
};

export const classLabel = (name: string): string => kLabels[name] ?? name.replaceAll('_', ' ');

const kSources: Readonly<Record<string, string>> = {
  span: 'by span id',
  local_root: 'by local root span',
  attached: 'attached profile',
  thread: 'by thread and time',
  process: 'by process and time',
  service: 'by service and time',
  trace: 'from the trace',
  exact: 'measured',
};

export const sourceLabel = (item: LedgerClass): string => {
  if (item.source === 'none') return '';
  if (item.name === 'child') return 'from the trace';
  const label = kSources[item.source] ?? item.source;
  return item.samples > 0 ? `${label}, ${item.samples} samples` : label;
};

export interface LedgerPart {
  readonly item: LedgerClass;
  readonly share: number;
  /** Width in hundredths of a percent; all parts sum to 10,000. */
  readonly width: number;
}

const kWhole = 10_000;

/** Parts in fixed order, widths rounded by largest remainder. */
export const ledgerParts = (ledger: Ledger): LedgerPart[] => {
  const rank = (name: string): number => {
    const at = kLedgerOrder.indexOf(name);
    return at < 0 ? kLedgerOrder.length : at;
  };
  const items = ledger.classes
    .filter((item) => item.ns > 0)
    .sort((a, b) => rank(a.name) - rank(b.name));
  const total = items.reduce((sum, item) => sum + item.ns, 0);
  if (total <= 0) return [];
  const exact = items.map((item) => (item.ns / total) * kWhole);
  const widths = exact.map(Math.floor);
  let rest = kWhole - widths.reduce((sum, width) => sum + width, 0);
  const order = exact
    .map((value, index) => ({ index, remainder: value - Math.floor(value) }))
    .sort((a, b) => b.remainder - a.remainder || a.index - b.index);
  for (const { index } of order) {
    if (rest-- <= 0) break;
    widths[index] = (widths[index] ?? 0) + 1;
  }
  return items.map((item, index) => ({
    item,
    share: ledger.durationNs > 0 ? item.ns / ledger.durationNs : 0,
    width: widths[index] ?? 0,
  }));
};
