// From the API's JSON to the model.
import { spanId, traceId } from '../base/brand';
import type { Explanation, Profile, TopFunction, Window } from '../model/explanation';
import type { Service, Span, SpanRef, Trace, TraceList } from '../model/trace';
import type { Reader } from './reader';

const spanRef = (r: Reader): SpanRef | undefined => {
  const id = spanId(r.text('span_id'));
  if (id === undefined) return undefined;
  return {
    id,
    service: r.text('service'),
    name: r.text('name'),
    durationNs: r.number('duration_ns'),
    selfNs: r.number('self_ns'),
  };
};

export const decodeServices = (r: Reader): readonly Service[] =>
  r.list('services', (s) => ({
    service: s.text('service'),
    spans: s.number('spans'),
    errors: s.number('errors'),
    rate: s.number('rate'),
    lastNs: s.time('last_ns'),
    profileTypes: s.texts('profile_types'),
    samples: s.number('samples'),
    spanLinked: s.number('span_linked'),
  }));

export const decodeTraceList = (r: Reader): TraceList => ({
  traces: r.list('traces', (t) => {
    const id = traceId(t.text('trace_id'));
    if (id === undefined) return undefined;
    const root = t.object('root');
    return {
      id,
      root: { service: root.text('service'), name: root.text('name') },
      startNs: t.time('start_ns') ?? 0n,
      durationNs: t.number('duration_ns'),
      spans: t.number('spans'),
      errors: t.number('errors'),
      services: t.texts('services'),
      slowest: spanRef(t.object('slowest')),
      matched: t.list('matched', spanRef),
    };
  }),
  inspected: r.object('inspected').number('rows'),
  truncated: r.object('inspected').flag('truncated'),
});

const span = (s: Reader): Span | undefined => {
  const id = spanId(s.text('span_id'));
  if (id === undefined) return undefined;
  const scope = s.object('scope');
  return {
    id,
    parentId: spanId(s.text('parent_span_id')),
    service: s.text('service'),
    name: s.text('name'),
    kind: s.text('kind'),
    status: s.text('status'),
    statusMessage: s.text('status_message'),
    startNs: s.time('start_ns') ?? 0n,
    offsetNs: s.number('offset_ns'),
    durationNs: s.number('duration_ns'),
    selfNs: s.number('self_ns'),
    criticalNs: s.number('critical_ns'),
    depth: s.number('depth'),
    attributes: s.map('attributes'),
    resource: s.map('resource'),
    scope: [scope.text('name'), scope.text('version')].filter((part) => part !== '').join(' '),
    events: s.list('events', (e) => ({
      name: e.text('name'),
      offsetNs: e.number('offset_ns'),
      attributes: e.map('attributes'),
    })),
    links: s.list('links', (l) => ({
      traceId: l.text('trace_id'),
      spanId: l.text('span_id'),
      attributes: l.map('attributes'),
    })),
    samples: s.numbers('samples'),
  };
};

export const decodeTrace = (r: Reader): Trace | undefined => {
  const id = traceId(r.text('trace_id'));
  if (id === undefined) return undefined;
  return {
    id,
    startNs: r.time('start_ns') ?? 0n,
    durationNs: r.number('duration_ns'),
    rootId: spanId(r.text('root_span_id')),
    suggestedId: spanId(r.text('suggested_span_id')),
    truncated: r.flag('truncated'),
    services: r.list('services', (s) => ({
      service: s.text('service'),
      spans: s.number('spans'),
      selfNs: s.number('self_ns'),
    })),
    spans: r.list('spans', span),
  };
};

const topFunction = (t: Reader): TopFunction => ({
  function: t.text('function'),
  file: t.text('file'),
  line: t.number('line'),
  self: t.number('self'),
  total: t.number('total'),
  share: t.number('share'),
  shareLow: t.number('share_low'),
  shareHigh: t.number('share_high'),
  samples: t.number('samples'),
  lines: t.list('lines', (l) => ({
    line: l.number('line'),
    self: l.number('self'),
    total: l.number('total'),
  })),
});

const window = (r: Reader): Window | undefined => {
  const startNs = r.time('start_ns');
  const endNs = r.time('end_ns');
  return startNs === undefined || endNs === undefined ? undefined : { startNs, endNs };
};

export const decodeProfile = (p: Reader): Profile => {
  const flame = p.object('flame');
  return {
    type: p.text('type'),
    tier: p.text('tier'),
    mode: p.text('mode'),
    samples: p.number('samples'),
    periodNs: p.number('period_ns'),
    total: p.number('total'),
    window: window(p.object('window')),
    agents: p.texts('agents'),
    note: p.text('note'),
    spans: p.number('spans', 1),
    flame: {
      names: flame.texts('names'),
      levels: flame.numberLists('levels'),
      total: flame.number('total'),
    },
    top: p.list('top', topFunction),
  };
};

export const decodeExplanation = (r: Reader): Explanation => {
  const of = r.object('span');
  const baseline = r.object('baseline');
  const ledger = r.object('ledger');
  const pooled = r.object('pooled');
  return {
    service: of.text('service'),
    name: of.text('name'),
    kind: of.text('kind'),
    status: of.text('status'),
    durationNs: of.number('duration_ns'),
    baseline:
      baseline.number('n') > 0
        ? {
            p50Ns: baseline.number('p50_ns'),
            p95Ns: baseline.number('p95_ns'),
            n: baseline.number('n'),
            ratio: baseline.number('ratio'),
          }
        : undefined,
    ledger: r.has('ledger')
      ? {
          durationNs: ledger.number('duration_ns'),
          cpuNs: ledger.number('cpu_ns'),
          parallelNs: ledger.number('parallel_ns'),
          classes: ledger.list('classes', (c) => ({
            name: c.text('class'),
            ns: c.number('ns'),
            lowNs: c.number('low_ns', c.number('ns')),
            highNs: c.number('high_ns', c.number('ns')),
            source: c.text('source'),
            samples: c.number('samples'),
            hint: c.text('hint'),
          })),
        }
      : undefined,
    profiles: r.list('profiles', decodeProfile),
    pooled:
      pooled.number('spans') > 0
        ? {
            spans: pooled.number('spans'),
            samples: pooled.number('samples'),
            query: pooled.text('query'),
          }
        : undefined,
    missing: r.list('missing', (m) => {
      const nearest = m.object('nearest');
      return {
        type: m.text('type'),
        reason: m.text('reason'),
        detail: m.text('detail'),
        fix: m.text('fix'),
        beforeNs: nearest.time('before_ns'),
        afterNs: nearest.time('after_ns'),
      };
    }),
    findings: r.list('findings', (f) => {
      const location = f.object('location');
      return {
        kind: f.text('kind'),
        title: f.text('title'),
        severity: f.text('severity'),
        savesNs: f.number('saves_ns'),
        savesLowNs: f.number('saves_low_ns'),
        savesHighNs: f.number('saves_high_ns'),
        function: location.text('function'),
        file: location.text('file'),
        line: location.number('line'),
        service: location.text('service'),
        fix: f.text('fix'),
        pooled: f.flag('pooled'),
        evidence: f.list('evidence', (e) => ({ text: e.text('text'), query: e.text('query') })),
      };
    }),
  };
};
