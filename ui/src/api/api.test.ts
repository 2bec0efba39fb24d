import { afterEach, describe, expect, test, vi } from 'vitest';
import { address, explanation, pooledFlame, trace, traces } from './client';
import { decodeExplanation, decodeServices, decodeTrace } from './decoders';
import { Reader } from './reader';

const abort = () => new AbortController().signal;

const answer = (status: number, body: unknown): void => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(body), { status })));
};

afterEach(() => vi.unstubAllGlobals());

describe('addresses', () => {
  test('leave empty parameters out and encode the rest', () => {
    expect(address('/traces', { service: '', filter: '{ a = "b" }', start: undefined })).toBe(
      '/api/hotspan/v1/traces?filter=%7B+a+%3D+%22b%22+%7D',
    );
  });

  test('pooled profiles take a path or a TraceQL filter', () => {
    expect(pooledFlame('{ }', 'cpu').key).toBe(
      '/api/hotspan/v1/flame?spans=%7B+%7D&type=cpu&format=json',
    );
    expect(pooledFlame('/api/hotspan/v1/flame?spans=x&type=cpu', 'wall').key).toBe(
      '/api/hotspan/v1/flame?spans=x&type=cpu&format=json',
    );
  });
});

describe('requests', () => {
  test('errors carry code, message and field', async () => {
    answer(400, { error: { code: 'invalid_argument', message: 'bad filter', field: 'filter' } });
    expect(await traces({}).load(abort())).toEqual({
      ok: false,
      error: { status: 400, code: 'invalid_argument', message: 'bad filter', field: 'filter' },
    });
  });

  test('an answer of another form is an error, not a broken page', async () => {
    answer(200, []);
    expect(await trace('ab').load(abort())).toMatchObject({
      ok: false,
      error: { code: 'bad_answer' },
    });
  });

  test('an unreachable server is named', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new Error('refused')));
    expect(await explanation({}).load(abort())).toMatchObject({
      ok: false,
      error: { code: 'unreachable', message: 'refused' },
    });
  });
});

describe('decoding', () => {
  test('a trace with all its parts', () => {
    const decoded = decodeTrace(
      new Reader({
        trace_id: 'AB12',
        start_ns: '1795262400000000001',
        duration_ns: 5,
        spans: [
          {
            span_id: '01',
            parent_span_id: '',
            name: 'n',
            attributes: { n: 1, s: 'x', list: [1] },
            events: [{ name: 'e', offset_ns: 2 }],
            links: [{ trace_id: 'cd', span_id: '02' }],
            samples: { cpu: 3 },
            scope: { name: 'lib', version: '1' },
          },
          { name: 'no id' },
        ],
      }),
    );
    expect(decoded?.id).toBe('ab12');
    expect(decoded?.startNs).toBe(1_795_262_400_000_000_001n);
    expect(decoded?.spans).toHaveLength(1);
    const first = decoded?.spans[0];
    expect(first?.parentId).toBeUndefined();
    expect(first?.scope).toBe('lib 1');
    expect([...(first?.attributes ?? [])]).toEqual([
      ['n', '1'],
      ['s', 'x'],
      ['list', '[1]'],
    ]);
    expect(first?.samples.get('cpu')).toBe(3);
  });

  test('an id of zeros is no id', () => {
    const decoded = decodeTrace(
      new Reader({
        trace_id: 'ab',
        spans: [{ span_id: '01', parent_span_id: '0000000000000000' }],
      }),
    );
    expect(decoded?.spans[0]?.parentId).toBeUndefined();
    expect(decodeTrace(new Reader({ trace_id: '00' }))).toBeUndefined();
  });

  test('missing parts are neutral', () => {
    const empty = decodeExplanation(new Reader({}));
    expect(empty).toMatchObject({ profiles: [], findings: [], missing: [] });
    expect(empty.baseline).toBeUndefined();
    expect(empty.ledger).toBeUndefined();
    expect(empty.pooled).toBeUndefined();
    expect(decodeServices(new Reader(null))).toEqual([]);
  });

  test('an explanation with all its parts', () => {
    const decoded = decodeExplanation(
      new Reader({
        span: { name: 'op', service: 's', duration_ns: 600 },
        baseline: { p50_ns: 50, p95_ns: 70, n: 150, ratio: 12 },
        ledger: { duration_ns: 600, classes: [{ class: 'on_cpu', ns: 600, source: 'span' }] },
        profiles: [
          {
            type: 't',
            samples: 1,
            window: { start_ns: '1', end_ns: '2' },
            flame: { names: ['total'], levels: [[0, 1, 1, 0]], total: 1 },
            top: [{ function: 'f', lines: [{ line: 1, self: 1, total: 1 }] }],
          },
        ],
        pooled: { spans: 150, samples: 4100, query: '{ }' },
        missing: [{ type: 't', reason: 'r', nearest: { before_ns: '7' } }],
        findings: [{ kind: 'k', location: { function: 'f', line: 3 }, evidence: [{ text: 'e' }] }],
      }),
    );
    expect(decoded.baseline?.ratio).toBe(12);
    expect(decoded.ledger?.classes[0]).toMatchObject({ lowNs: 600, highNs: 600 });
    expect(decoded.profiles[0]?.window).toEqual({ startNs: 1n, endNs: 2n });
    expect(decoded.profiles[0]?.flame.levels).toEqual([[0, 1, 1, 0]]);
    expect(decoded.missing[0]).toMatchObject({ beforeNs: 7n, afterNs: undefined });
    expect(decoded.findings[0]).toMatchObject({ function: 'f', line: 3, pooled: false });
    expect(decoded.pooled?.samples).toBe(4100);
  });
});
