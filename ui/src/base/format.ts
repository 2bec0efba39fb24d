// Numbers as people read them: three significant digits, a unit, nothing rounded away silently.

const trimmed = (value: number): string => {
  const abs = Math.abs(value);
  if (abs === 0) return '0';
  if (abs >= 99.95) return Math.round(value).toString();
  if (abs >= 9.995) return value.toFixed(1);
  return value.toFixed(2);
};

const withUnit = (value: number, units: readonly (readonly [number, string])[]): string => {
  const abs = Math.abs(value);
  let index = 0;
  for (let i = 0; i < units.length; i++) {
    const [size] = units[i] ?? [1, ''];
    // 999.5 of a unit would print as 1000: take the next unit instead.
    if (abs >= size * 0.9995 || i === 0) index = i;
  }
  const [size, unit] = units[index] ?? [1, ''];
  return `${trimmed(value / size)} ${unit}`.trim();
};

const kDurations: readonly (readonly [number, string])[] = [
  [1, 'ns'],
  [1e3, 'µs'],
  [1e6, 'ms'],
  [1e9, 's'],
];

export const formatDuration = (ns: number): string => {
  if (!Number.isFinite(ns)) return '–';
  if (ns === 0) return '0 ms';
  if (Math.abs(ns) < 1e3) return `${Math.round(ns)} ns`;
  const seconds = Math.abs(ns) / 1e9;
  if (seconds < 119.5) return withUnit(ns, kDurations);
  const sign = ns < 0 ? '−' : '';
  const whole = Math.round(seconds);
  if (whole < 7200) return `${sign}${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 2880) return `${sign}${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${sign}${trimmed(seconds / 86400)} d`;
};

/** In sentences `50 ms` reads better than `50.0 ms`; in columns the digits stay. */
export const plainDuration = (ns: number): string =>
  formatDuration(ns).replace(/\.0+(?= )|(\.\d*[1-9])0+(?= )/, '$1');

export const formatBytes = (bytes: number): string =>
  withUnit(bytes, [
    [1, 'B'],
    [1024, 'KiB'],
    [1024 ** 2, 'MiB'],
    [1024 ** 3, 'GiB'],
    [1024 ** 4, 'TiB'],
  ]);

/** Whole numbers with thousands separators: counts are exact, so no digits are cut. */
export const formatCount = (value: number): string =>
  Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, ',');

/** One word of a number: `1 span`, `5,000 spans`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

export const formatShare = (share: number): string => {
  if (!Number.isFinite(share)) return '–';
  const percent = share * 100;
  if (percent === 0) return '0 %';
  if (Math.abs(percent) < 0.05) return '< 0.1 %';
  if (Math.abs(percent) >= 99.95) return `${Math.round(percent)} %`;
  return `${percent.toFixed(1)} %`;
};

/** `24..48 %`: the 95 % interval of a share; wide intervals need no decimals. */
export const formatShareInterval = (low: number, high: number): string => {
  const digits = (high - low) * 100 < 2 ? 1 : 0;
  return `${(low * 100).toFixed(digits)}..${(high * 100).toFixed(digits)} %`;
};

/** `310..420 ms`: both ends in one unit. */
export const formatDurationInterval = (low: number, high: number): string => {
  const unit = high >= 0.9995e9 ? 1e9 : high >= 0.9995e6 ? 1e6 : high >= 0.9995e3 ? 1e3 : 1;
  const name = unit === 1e9 ? 's' : unit === 1e6 ? 'ms' : unit === 1e3 ? 'µs' : 'ns';
  return `${trimmed(low / unit)}..${trimmed(high / unit)} ${name}`;
};

/** `12 times`: how often the usual value. */
export const formatTimes = (ratio: number): string => {
  if (ratio >= 9.95) return `${formatCount(ratio)} times`;
  return `${ratio.toFixed(1)} times`;
};

/** A profile value in the unit of its type (`nanoseconds`, `bytes`, `count`). */
export const formatValue = (value: number, unit: string): string => {
  if (unit === 'nanoseconds' || unit === 'ns') return formatDuration(value);
  if (unit === 'bytes') return formatBytes(value);
  return formatCount(value);
};
