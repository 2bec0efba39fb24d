import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { spanId } from '../base/brand';
import {
  kFlameViews,
  kOrders,
  kScopes,
  kTiers,
  parsePath,
  parseTrace,
  parseTraces,
  pathOfPasted,
  printTrace,
  printTraces,
  type TraceState,
  type TracesState,
} from './url';

const points = fc.oneof(
  fc.constant('now'),
  fc.tuple(fc.nat(999), fc.constantFrom('s', 'm', 'h', 'd')).map(([n, unit]) => `now-${n}${unit}`),
  fc.bigInt({ min: 0n, max: 10n ** 19n }).map(String),
);

const text = (maxLength: number) => fc.string({ unit: 'grapheme', maxLength });

const tracesStates: fc.Arbitrary<TracesState> = fc.record({
  range: fc.record({ from: points, to: points }),
  service: text(40),
  filter: text(60),
  minDuration: fc.constantFrom('', '500ms', '1.5s', '20'),
  order: fc.constantFrom(...kOrders),
});

const traceStates: fc.Arbitrary<TraceState> = fc.record({
  span: fc.option(
    fc
      .bigInt({ min: 0n, max: 2n ** 64n - 1n })
      .map((value) => spanId(value.toString(16).padStart(16, '0'))),
    { nil: undefined },
  ),
  type: text(40),
  mode: fc.constantFrom(...kScopes),
  view: fc.constantFrom(...kFlameViews),
  tier: fc.constantFrom(...kTiers),
  zoom: fc.oneof(
    fc.constant(''),
    fc.integer({ min: 0, max: 2 ** 32 - 1 }).map((value) => value.toString(36)),
  ),
  find: text(60),
});

describe('round trip', () => {
  test('any state of the traces page', () => {
    fc.assert(
      fc.property(tracesStates, (state) => {
        expect(parseTraces(printTraces(state))).toEqual(state);
      }),
    );
  });

  test('any state of the trace page', () => {
    fc.assert(
      fc.property(traceStates, (state) => {
        expect(parseTrace(printTrace(state))).toEqual(state);
      }),
    );
  });
});

describe('links', () => {
  test('defaults are not written', () => {
    expect(printTraces(parseTraces(''))).toBe('');
    expect(printTrace(parseTrace(''))).toBe('');
  });

  test('unknown keys survive', () => {
    expect(printTrace(parseTrace('?x=1&view=table'), '?x=1&view=table')).toBe('?x=1&view=table');
  });

  test('a value that does not parse becomes the default', () => {
    expect(parseTrace('?view=pie&span=zz&zoom=%2F&tier=best')).toEqual(parseTrace(''));
    expect(parseTraces('?t=tomorrow&min=fast&order=up')).toEqual(parseTraces(''));
  });

  test('old links open for ever', () => {
    expect(
      parseTrace(
        '?span=00f067aa0ba902b7&type=process_cpu&mode=with_children&view=flame&zoom=1z&find=regex',
      ),
    ).toMatchObject({
      span: '00f067aa0ba902b7',
      type: 'process_cpu',
      mode: 'with_children',
      view: 'flame',
      zoom: '1z',
      find: 'regex',
    });
    expect(parseTraces('?t=now-24h..now&service=shop&q=%7B+%7D&min=500ms&order=newest')).toEqual({
      range: { from: 'now-24h', to: 'now' },
      service: 'shop',
      filter: '{ }',
      minDuration: '500ms',
      order: 'newest',
    });
  });
});

test('paths', () => {
  expect(parsePath('/')).toEqual({ name: 'traces' });
  expect(parsePath('/traces/')).toEqual({ name: 'traces' });
  expect(parsePath('/trace/4BF92F')).toEqual({ name: 'trace', id: '4bf92f' });
  expect(parsePath('/trace/xyz')).toEqual({ name: 'unknown' });
  expect(parsePath('/profiles')).toEqual({ name: 'unknown' });
});

test('pasted ids, traceparents and links lead to the trace', () => {
  const id = '4bf92f3577b34da6a3ce929d0e0e4736';
  expect(pathOfPasted(` ${id.toUpperCase()} `)).toBe(`/trace/${id}`);
  expect(pathOfPasted(`00-${id}-00f067aa0ba902b7-01`)).toBe(`/trace/${id}?span=00f067aa0ba902b7`);
  expect(pathOfPasted(`http://x:1/trace/${id}?span=ab`)).toBe(`/trace/${id}?span=ab`);
  expect(pathOfPasted('GET /order')).toBeUndefined();
});
