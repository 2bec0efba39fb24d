// Absolute times (bigint nanoseconds) and relative ranges as they stand in links (`now-1h..now`).

const kUnits: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3600e3, d: 86400e3 };

export interface TimeRange {
  readonly from: string;
  readonly to: string;
}

const kPoint = /^(now(-\d+[smhd])?|\d{1,20})$/;

export const parseRange = (text: string): TimeRange | undefined => {
  const [from, to, rest] = text.split('..');
  if (from === undefined || to === undefined || rest !== undefined) return undefined;
  return kPoint.test(from) && kPoint.test(to) ? { from, to } : undefined;
};

export const printRange = (range: TimeRange): string => `${range.from}..${range.to}`;

/** Milliseconds of one end of a range; undefined when it is no time. */
export const resolvePoint = (point: string, nowMs: number): number | undefined => {
  if (!kPoint.test(point)) return undefined;
  if (point === 'now') return nowMs;
  if (!point.startsWith('now')) return Number(BigInt(point) / 1_000_000n);
  const unit = kUnits[point.slice(-1)];
  const amount = Number(point.slice(4, -1));
  return unit === undefined ? undefined : nowMs - amount * unit;
};

/** Nanoseconds of a decimal string; undefined when it is none. */
export const parseNs = (text: string): bigint | undefined =>
  /^-?\d{1,20}$/.test(text) ? BigInt(text) : undefined;

/** Nanoseconds of a duration like `500ms`, `1.5s`, `2m`; a bare number means milliseconds. */
export const parseDuration = (text: string): number | undefined => {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|h)?\s*$/.exec(text);
  if (!match) return undefined;
  const scale: Readonly<Record<string, number>> = {
    ns: 1,
    us: 1e3,
    µs: 1e3,
    ms: 1e6,
    s: 1e9,
    m: 60e9,
    h: 3600e9,
  };
  return Number(match[1]) * (scale[match[2] ?? 'ms'] ?? 1e6);
};

const two = (value: number): string => value.toString().padStart(2, '0');

/** `21:34:07.123` in local time. */
export const formatClock = (ns: bigint): string => {
  const date = new Date(Number(ns / 1_000_000n));
  const ms = date.getMilliseconds().toString().padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`;
};

/** `2026-11-21 21:34:07.123` in local time. */
export const formatDateTime = (ns: bigint): string => {
  const date = new Date(Number(ns / 1_000_000n));
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${formatClock(ns)}`;
};

/** `21:34:07 to 21:34:37`, whole seconds. */
export const formatClockRange = (start: bigint, end: bigint): string =>
  `${formatClock(start).slice(0, 8)} to ${formatClock(end).slice(0, 8)}`;

/** `3 min ago`, for the last time something was seen. */
export const formatAge = (ns: bigint, nowMs: number): string => {
  const seconds = Math.max(0, Math.round((nowMs - Number(ns / 1_000_000n)) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
};
