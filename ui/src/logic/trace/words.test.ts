import { describe, expect, test } from 'vitest';
import type { Profile } from '../../model/explanation';
import {
  baselineDetail,
  baselineSentence,
  fewSamplesNote,
  provenanceSentence,
  reasonTitle,
  typeWords,
} from './words';

const profile = (change: Partial<Profile>): Profile => ({
  type: 'process_cpu:cpu:nanoseconds:cpu:nanoseconds',
  tier: 'span',
  mode: 'self',
  samples: 56,
  periodNs: 10_309_278,
  total: 0,
  window: { startNs: 0n, endNs: 60_000_000_000n },
  agents: ['libhotspan/0.1.0'],
  note: '',
  spans: 1,
  flame: { names: [], levels: [], total: 0 },
  top: [],
  ...change,
});

describe('baseline', () => {
  const of = (p50Ns: number, ratio: number) => ({ p50Ns, p95Ns: p50Ns * 2, n: 150, ratio });

  test('compares with the usual', () => {
    expect(baselineSentence(600e6, of(50e6, 12))).toBe('600 ms, 12 times the usual 50 ms');
    expect(baselineSentence(812e6, of(800e6, 1.01))).toBe('812 ms, as usual (median 800 ms)');
    expect(baselineSentence(20e6, of(50e6, 0.4))).toBe('20 ms, less than the usual 50 ms');
    expect(baselineSentence(20e6, undefined)).toContain('no other spans');
  });

  test('says how many were compared', () => {
    expect(baselineDetail(of(50e6, 12))).toBe('95 % take less than 100 ms · 150 spans compared');
    expect(baselineDetail(undefined)).toBe('');
  });
});

describe('provenance', () => {
  test('exact by span id', () => {
    expect(provenanceSentence(profile({}))).toBe(
      'exact by span id · 56 samples, 10.3 ms each · libhotspan/0.1.0',
    );
  });

  test('a time window says that it contains other requests', () => {
    const text = provenanceSentence(profile({ tier: 'service' }));
    expect(text).toContain('contains other requests');
    expect(text).toMatch(/\d\d:\d\d:\d\d to \d\d:\d\d:\d\d/);
  });

  test('pooled profiles say over how many spans', () => {
    expect(provenanceSentence(profile({ spans: 150 }))).toContain('pooled over 150 spans');
  });

  test.each(['local_root', 'attached', 'thread', 'process', 'other', ''])(
    'tier "%s" has words',
    (tier) => {
      expect(provenanceSentence(profile({ tier, note: 'odd' }))).toMatch(/^\S.* · odd$/);
    },
  );

  test('few samples are called few', () => {
    expect(fewSamplesNote(profile({ samples: 11 }))).toContain('11 samples');
    expect(fewSamplesNote(profile({}))).toBe('');
    expect(fewSamplesNote(profile({ samples: 0 }))).toBe('');
  });
});

test('types have a name and a unit', () => {
  expect(typeWords('process_cpu:cpu:nanoseconds:cpu:nanoseconds')).toEqual({
    label: 'On-CPU',
    unit: 'nanoseconds',
  });
  expect(typeWords('off_cpu:time:nanoseconds:time:nanoseconds').label).toBe('Off-CPU');
  expect(typeWords('memory:alloc_space:bytes:space:bytes')).toEqual({
    label: 'Allocated bytes',
    unit: 'bytes',
  });
  expect(typeWords('strange')).toEqual({ label: 'strange', unit: 'count' });
});

test('unknown reasons are still readable', () => {
  expect(reasonTitle('not_labelled')).toBe('Profiles carry no span ids');
  expect(reasonTitle('some_new_reason')).toBe('Some new reason');
  expect(reasonTitle('')).toBe('No data');
});
