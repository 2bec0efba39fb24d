import { expect, test } from 'vitest';
import { wilson } from './wilson';

test('known values', () => {
  const { low, high } = wilson(20, 56);
  expect(low).toBeCloseTo(0.2446, 3);
  expect(high).toBeCloseTo(0.488, 3);
});

test('nothing counted says nothing', () => {
  expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
});

test('stays inside the whole', () => {
  expect(wilson(0, 10).low).toBe(0);
  expect(wilson(10, 10).high).toBeCloseTo(1, 12);
  expect(wilson(10, 10).high).toBeLessThanOrEqual(1);
});
