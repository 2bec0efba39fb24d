import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { spanId, traceId } from '../../base/brand';
import type { Ledger, LedgerClass } from '../../model/explanation';
import type { Span, Trace } from '../../model/trace';
import { criticalPath } from './critical';
import { classLabel, ledgerParts, sourceLabel } from './ledger';
import { buildTree, kFoldFrom, mergeSegments, pathTo, visibleRows } from './tree';

const id = (n: number) => {
  const made = spanId(n.toString(16).padStart(16, '0'));
  if (made === undefined) throw new Error('bad id');
  return made;
};

const span = (n: number, parent: number, name: string, start: number, length: number): Span => ({
  id: id(n),
  parentId: parent === 0 ? undefined : id(parent),
  service: 's',
  name,
  kind: 'internal',
  status: 'unset',
  statusMessage: '',
  startNs: BigInt(start),
  offsetNs: start,
  durationNs: length,
  selfNs: 0,
  criticalNs: 0,
  depth: 0,
  attributes: new Map(),
  resource: new Map(),
  scope: '',
  events: [],
  links: [],
  samples: new Map(),
});

const trace = (...spans: Span[]): Trace => {
  const made = traceId('ab');
  if (made === undefined) throw new Error('bad id');
  return {
    id: made,
    startNs: 0n,
    durationNs: 100,
    rootId: spans[0]?.id,
    suggestedId: undefined,
    truncated: false,
    services: [],
    spans,
  };
};

const none: ReadonlySet<string> = new Set();

const dump = (of: Trace, closed = none, opened = none): string[] =>
  visibleRows(buildTree(of), closed, opened).map((row) =>
    row.kind === 'span'
      ? `${'  '.repeat(row.depth)}${row.span.name}`
      : `${'  '.repeat(row.depth)}× ${row.members.length} ${row.name} ${row.totalNs}`,
  );

describe('waterfall', () => {
  const repeated = trace(
    span(1, 0, 'root', 0, 100),
    span(2, 1, 'users', 1, 5),
    ...Array.from({ length: 6 }, (_, i) => span(10 + i, 1, 'prefs', 10 + i * 10, 8)),
    span(30, 12, 'below', 31, 2),
  );

  test('repeated siblings become one row with their sum', () => {
    expect(dump(repeated)).toEqual(['root', '  users', '  × 6 prefs 48']);
  });

  test('an opened group shows its members and what is below them', () => {
    const way = pathTo(buildTree(repeated), id(30));
    expect(way.spans).toEqual([id(12), id(1)]);
    expect(dump(repeated, none, new Set(way.groups))).toEqual([
      'root',
      '  users',
      '  × 6 prefs 48',
      '    prefs',
      '    prefs',
      '    prefs',
      '      below',
      '    prefs',
      '    prefs',
      '    prefs',
    ]);
  });

  test('fewer siblings than the fold stay apart', () => {
    const few = trace(
      span(1, 0, 'root', 0, 100),
      ...Array.from({ length: kFoldFrom - 1 }, (_, i) => span(10 + i, 1, 'x', i, 1)),
    );
    expect(dump(few)).toHaveLength(kFoldFrom);
  });

  test('a closed span hides what is below it', () => {
    expect(dump(repeated, new Set([id(1)]))).toEqual(['root']);
  });

  test('orphans, cycles and repeated ids neither vanish nor hang', () => {
    const odd = trace(
      span(1, 99, 'orphan', 5, 1),
      span(2, 3, 'cycle a', 1, 1),
      span(3, 2, 'cycle b', 2, 1),
      span(4, 4, 'own parent', 3, 1),
      span(1, 0, 'repeated', 0, 1),
    );
    expect(
      dump(odd)
        .map((line) => line.trim())
        .sort(),
    ).toEqual(['cycle a', 'cycle b', 'orphan', 'own parent']);
  });

  test('close intervals merge, others stay', () => {
    expect(
      mergeSegments(
        [
          { start: 5, end: 6 },
          { start: 0, end: 2 },
          { start: 2.5, end: 3 },
        ],
        1,
      ),
    ).toEqual([
      { start: 0, end: 3 },
      { start: 5, end: 6 },
    ]);
  });
});

describe('critical path', () => {
  test('follows the child that finishes last', () => {
    const path = criticalPath(
      buildTree(
        trace(
          span(1, 0, 'root', 0, 100),
          span(2, 1, 'short', 10, 20),
          span(3, 1, 'long', 10, 70),
          span(4, 3, 'inner', 20, 30),
        ),
      ),
    );
    expect(path.get(id(1))).toEqual([
      { start: 0, end: 10 },
      { start: 80, end: 100 },
    ]);
    expect(path.has(id(2))).toBe(false);
    expect(path.get(id(3))).toEqual([
      { start: 10, end: 20 },
      { start: 50, end: 80 },
    ]);
    expect(path.get(id(4))).toEqual([{ start: 20, end: 50 }]);
  });

  test('a child that outlives its parent is clipped', () => {
    const path = criticalPath(
      buildTree(trace(span(1, 0, 'root', 0, 50), span(2, 1, 'async', 40, 100))),
    );
    expect(path.get(id(2))).toEqual([{ start: 40, end: 50 }]);
  });

  test("pieces sum to the root's duration", () => {
    const children = fc.array(
      fc.record({
        parent: fc.nat(9),
        start: fc.nat(99),
        length: fc.integer({ min: 0, max: 60 }),
      }),
      { maxLength: 10 },
    );
    fc.assert(
      fc.property(children, (items) => {
        const spans = [span(1, 0, 'root', 0, 100)];
        items.forEach((item, index) => {
          const parent = 1 + (item.parent % (index + 1));
          spans.push(span(index + 2, parent, `c${index}`, item.start, item.length));
        });
        let sum = 0;
        for (const pieces of criticalPath(buildTree(trace(...spans))).values()) {
          for (const piece of pieces) sum += piece.end - piece.start;
        }
        expect(sum).toBe(100);
      }),
    );
  });
});

describe('ledger', () => {
  const part = (name: string, ns: number): LedgerClass => ({
    name,
    ns,
    lowNs: ns,
    highNs: ns,
    source: 'span',
    samples: 0,
    hint: '',
  });
  const ledger = (...classes: LedgerClass[]): Ledger => ({
    durationNs: classes.reduce((sum, item) => sum + item.ns, 0),
    cpuNs: 0,
    parallelNs: 0,
    classes,
  });

  test('widths sum to the whole for any classes', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1e9), { minLength: 1, maxLength: 11 }), (values) => {
        const parts = ledgerParts(ledger(...values.map((value, i) => part(`c${i}`, value))));
        const sum = parts.reduce((total, item) => total + item.width, 0);
        expect(sum).toBe(values.some((value) => value > 0) ? 10_000 : 0);
      }),
    );
  });

  test('classes stand in one order and empty ones are left out', () => {
    const parts = ledgerParts(
      ledger(
        part('unobserved', 1),
        part('child', 3),
        part('lock', 0),
        part('on_cpu', 2),
        part('new', 1),
      ),
    );
    expect(parts.map((item) => item.item.name)).toEqual(['on_cpu', 'child', 'unobserved', 'new']);
  });

  test('says where each number is from', () => {
    expect(sourceLabel({ ...part('on_cpu', 1), samples: 56 })).toBe('by span id, 56 samples');
    expect(sourceLabel({ ...part('unobserved', 1), source: 'none' })).toBe('');
    expect(sourceLabel(part('child', 1))).toBe('from the trace');
    expect(classLabel('off_cpu')).toBe('Blocked');
    expect(classLabel('some_class')).toBe('some class');
  });
});
