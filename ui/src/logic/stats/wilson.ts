// The 95 % interval of a share that was counted in samples.

const kZ = 1.959964;

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Wilson score interval of `hits` among `n`; the whole range when nothing was counted. */
export const wilson = (hits: number, n: number): Interval => {
  if (n <= 0) return { low: 0, high: 1 };
  const p = Math.min(1, Math.max(0, hits / n));
  const z2 = kZ * kZ;
  const middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = (kZ / (1 + z2 / n)) * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
};
