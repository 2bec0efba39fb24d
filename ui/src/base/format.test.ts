import { describe, expect, test } from 'vitest';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatDurationInterval,
  formatShare,
  formatShareInterval,
  formatTimes,
  formatValue,
  plainDuration,
  plural,
} from './format';

describe('durations', () => {
  test.each([
    [0, '0 ms'],
    [999, '999 ns'],
    [1234, '1.23 µs'],
    [64e6, '64.0 ms'],
    [812_300_000, '812 ms'],
    [999_960_000, '1.00 s'],
    [3.1e9, '3.10 s'],
    [119.6e9, '2 min 0 s'],
    [3_725e9, '62 min 5 s'],
    [2 * 3600e9 + 29e9, '2 h 0 min'],
    [5 * 86400e9, '5.00 d'],
    [Number.NaN, '–'],
  ])('%d ns reads %s', (ns, text) => {
    expect(formatDuration(ns)).toBe(text);
  });

  test('sentences carry no trailing zeros', () => {
    expect(plainDuration(50e6)).toBe('50 ms');
    expect(plainDuration(1.5e9)).toBe('1.5 s');
    expect(plainDuration(812e6)).toBe('812 ms');
    expect(plainDuration(3e9)).toBe('3 s');
  });

  test('both ends of an interval have one unit', () => {
    expect(formatDurationInterval(71e6, 1.5e9)).toBe('0.07..1.50 s');
    expect(formatDurationInterval(101e6, 116e6)).toBe('101..116 ms');
  });
});

describe('shares and counts', () => {
  test('small shares are not shown as zero', () => {
    expect(formatShare(0.0001)).toBe('< 0.1 %');
    expect(formatShare(0)).toBe('0 %');
    expect(formatShare(0.123)).toBe('12.3 %');
    expect(formatShare(1)).toBe('100 %');
  });

  test('narrow intervals keep a decimal', () => {
    expect(formatShareInterval(0.24, 0.48)).toBe('24..48 %');
    expect(formatShareInterval(0.241, 0.252)).toBe('24.1..25.2 %');
  });

  test('counts are exact', () => {
    expect(formatCount(1234567)).toBe('1,234,567');
    expect(plural(1, 'span')).toBe('1 span');
    expect(plural(5000, 'span')).toBe('5,000 spans');
    expect(formatTimes(12)).toBe('12 times');
    expect(formatTimes(1.94)).toBe('1.9 times');
  });

  test('values follow the unit of their type', () => {
    expect(formatValue(2048, 'bytes')).toBe('2.00 KiB');
    expect(formatValue(1500, 'count')).toBe('1,500');
    expect(formatValue(1e6, 'nanoseconds')).toBe('1.00 ms');
    expect(formatBytes(0)).toBe('0 B');
  });
});
