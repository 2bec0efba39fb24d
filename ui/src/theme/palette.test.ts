import { expect, test } from 'vitest';
import css from './tokens.css?raw';

const blocks = css.split('@media');

const tokens = (block: string): Map<string, string> =>
  new Map(
    [...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map((match) => [
      match[1] ?? '',
      match[2] ?? '',
    ]),
  );

const luminance = (hex: string): number => {
  const channel = (at: number): number => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
};

const contrast = (a: string, b: string): number => {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
};

const kText: readonly (readonly [string, string, number])[] = [
  ['text', 'bg', 7],
  ['text', 'panel', 7],
  ['text', 'row-hover', 7],
  ['text', 'accent-ground', 7],
  ['muted', 'bg', 4.5],
  ['muted', 'panel', 4.5],
  ['muted', 'row-hover', 4.5],
  ['muted', 'accent-ground', 4.5],
  ['accent', 'bg', 4.5],
  ['accent', 'panel', 4.5],
  ['warn', 'bg', 4.5],
  ['warn', 'panel', 4.5],
  ['error', 'bg', 4.5],
  ['error', 'panel', 4.5],
  ['error', 'row-hover', 4.5],
  ['error', 'accent-ground', 4.5],
  ['text', 'error-ground', 7],
  ['on-accent', 'accent', 4.5],
  ['dim-text', 'dim', 4.5],
  ['hit-text', 'hit', 4.5],
  ['frame-text', 'frame-root', 4.5],
  ['line-strong', 'bg', 3],
  ['bar', 'bg', 3],
  ...Array.from({ length: 12 }, (_, i) => ['frame-text', `m${i}`, 4.5] as const),
  ...Array.from({ length: 12 }, (_, i) => [`s${i}`, 'bg', 3] as const),
];

test.each([
  ['light', blocks[0] ?? ''],
  ['dark', blocks[1] ?? ''],
])('%s: text and marks can be told from their ground', (_, block) => {
  const of = tokens(block);
  const low = kText
    .map(([front, back, least]) => ({
      pair: `${front} on ${back}`,
      ratio: contrast(of.get(front) ?? '', of.get(back) ?? ''),
      least,
    }))
    .filter(({ ratio, least }) => !(ratio >= least));
  expect(low).toEqual([]);
});

test('both themes have the same tokens', () => {
  expect([...tokens(blocks[1] ?? '').keys()]).toEqual([...tokens(blocks[0] ?? '').keys()]);
});
