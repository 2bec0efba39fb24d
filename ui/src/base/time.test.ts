import { describe, expect, test } from 'vitest';
import { formatAge, parseDuration, parseNs, parseRange, printRange, resolvePoint } from './time';

describe('ranges', () => {
  test('relative and absolute ends read and print the same', () => {
    for (const text of ['now-1h..now', 'now-7d..now-1d', '1795262400000000000..now']) {
      const range = parseRange(text);
      expect(range).toBeDefined();
      if (range) expect(printRange(range)).toBe(text);
    }
  });

  test.each(['', 'now', 'now-1x..now', 'a..b', 'now..now..now', '-5..now'])(
    'refuses %s',
    (text) => {
      expect(parseRange(text)).toBeUndefined();
    },
  );

  test('ends become milliseconds', () => {
    expect(resolvePoint('now', 1000)).toBe(1000);
    expect(resolvePoint('now-15m', 1_000_000)).toBe(100_000);
    expect(resolvePoint('1795262400000000000', 0)).toBe(1_795_262_400_000);
    expect(resolvePoint('soon', 0)).toBeUndefined();
  });
});

test('nanoseconds keep all their digits', () => {
  expect(parseNs('1795262400000000001')).toBe(1_795_262_400_000_000_001n);
  expect(parseNs('1e9')).toBeUndefined();
});

test('durations take units, a bare number means milliseconds', () => {
  expect(parseDuration('500ms')).toBe(500e6);
  expect(parseDuration('1.5 s')).toBe(1.5e9);
  expect(parseDuration('250')).toBe(250e6);
  expect(parseDuration('fast')).toBeUndefined();
  expect(parseDuration('-1s')).toBeUndefined();
});

test('ages are coarse', () => {
  expect(formatAge(0n, 30_000)).toBe('30 s ago');
  expect(formatAge(0n, 600_000)).toBe('10 min ago');
  expect(formatAge(0n, 3 * 3_600_000)).toBe('3 h ago');
  expect(formatAge(0n, 5 * 86_400_000)).toBe('5 d ago');
});
