import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Flamebearer, Profile } from '../../model/explanation';
import {
  buildGraph,
  childrenOf,
  findByKey,
  firstVisible,
  heaviestChild,
  heaviestSelf,
  keyOf,
  nameOf,
  nodeAt,
  pathOf,
  sharedLevels,
  sibling,
} from './graph';
import { colourOf, fitLabel, kModuleColours, moduleOf } from './label';
import { factsOf, placeOf } from './node_facts';
import { search } from './search';

interface Tree {
  readonly name: string;
  readonly self: number;
  readonly children: readonly Tree[];
}

const totalOf = (tree: Tree): number =>
  tree.self + tree.children.reduce((sum, child) => sum + totalOf(child), 0);

/** The flamebearer shape of a tree, written the way the server writes it. */
const flamebearer = (tree: Tree): Flamebearer => {
  const names: string[] = [];
  const levels: number[][] = [];
  const ends: number[] = [];
  const walk = (node: Tree, level: number, x: number): void => {
    if (!names.includes(node.name)) names.push(node.name);
    const row = levels[level] ?? [];
    levels[level] = row;
    row.push(x - (ends[level] ?? 0), totalOf(node), node.self, names.indexOf(node.name));
    ends[level] = x + totalOf(node);
    let at = x;
    for (const child of node.children) {
      walk(child, level + 1, at);
      at += totalOf(child);
    }
  };
  walk(tree, 0, 0);
  return { names, levels, total: totalOf(tree) };
};

const leaf = (name: string, self: number): Tree => ({ name, self, children: [] });
const node = (name: string, self: number, ...children: Tree[]): Tree => ({ name, self, children });

const sample = node(
  'total',
  0,
  node('main', 1, node('a', 2, leaf('regex', 3), leaf('b', 4)), node('regex', 5, leaf('regex', 6))),
  leaf('idle', 7),
);

const trees: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'regex', 'json::parse'),
    self: fc.integer({ min: 1, max: 9 }),
    children: fc.oneof(
      { maxDepth: 5 },
      fc.constant<Tree[]>([]),
      fc.array(tie('tree'), { maxLength: 4 }),
    ),
  }),
})).tree;

describe('layout', () => {
  test('counts the levels that all samples share', () => {
    expect(sharedLevels(buildGraph(flamebearer(sample)))).toBe(1);
    const deep = node('total', 0, node('start', 0, node('serve', 0, leaf('a', 3), leaf('b', 4))));
    expect(sharedLevels(buildGraph(flamebearer(deep)))).toBe(3);
    expect(sharedLevels(buildGraph(flamebearer(leaf('total', 0))))).toBe(1);
    expect(sharedLevels(buildGraph({ names: [], levels: [], total: 0 }))).toBe(0);
  });
  test('reads the flamebearer levels', () => {
    const graph = buildGraph(flamebearer(sample));
    const dump = Array.from(
      { length: graph.count },
      (_, i) =>
        `${'  '.repeat(graph.level[i] ?? 0)}${nameOf(graph, i)} x=${graph.x[i]} total=${graph.value[i]} self=${graph.self[i]}`,
    );
    expect(dump).toEqual([
      'total x=0 total=28 self=0',
      '  main x=0 total=21 self=1',
      '  idle x=21 total=7 self=7',
      '    a x=0 total=9 self=2',
      '    regex x=9 total=11 self=5',
      '      regex x=0 total=3 self=3',
      '      b x=3 total=4 self=4',
      '      regex x=9 total=6 self=6',
    ]);
  });

  test('children lie inside their parents and self times sum to the total', () => {
    fc.assert(
      fc.property(trees, (tree) => {
        const graph = buildGraph(flamebearer(tree));
        let self = 0;
        for (let i = 0; i < graph.count; i++) {
          self += graph.self[i] ?? 0;
          const parent = graph.parent[i] ?? -1;
          if (parent < 0) continue;
          expect(graph.level[parent]).toBe((graph.level[i] ?? 0) - 1);
          expect(graph.x[i]).toBeGreaterThanOrEqual(graph.x[parent] ?? 0);
          expect((graph.x[i] ?? 0) + (graph.value[i] ?? 0)).toBeLessThanOrEqual(
            (graph.x[parent] ?? 0) + (graph.value[parent] ?? 0),
          );
        }
        expect(self).toBe(graph.total);
      }),
    );
  });

  test('a bar outside every parent is dropped', () => {
    const graph = buildGraph({
      names: ['total', 'x'],
      levels: [
        [0, 10, 10, 0],
        [20, 5, 5, 1],
      ],
      total: 10,
    });
    expect(graph.count).toBe(1);
  });

  test('an empty profile has no nodes', () => {
    const graph = buildGraph({ names: [], levels: [], total: 0 });
    expect(graph.count).toBe(0);
    expect(heaviestSelf(graph)).toBeUndefined();
    expect(nodeAt(graph, 0, 0)).toBeUndefined();
  });

  test('walks to parents, children and neighbours', () => {
    const graph = buildGraph(flamebearer(sample));
    expect(pathOf(graph, 5).map((at) => nameOf(graph, at))).toEqual([
      'total',
      'main',
      'a',
      'regex',
    ]);
    expect(childrenOf(graph, 1)).toEqual([3, 4]);
    expect(heaviestChild(graph, 1)).toBe(4);
    expect(heaviestChild(graph, 7)).toBeUndefined();
    expect(sibling(graph, 3, 1)).toBe(4);
    expect(sibling(graph, 6, 1)).toBeUndefined();
    expect(heaviestSelf(graph)).toBe(2);
  });

  test('keys find the same frame in another profile', () => {
    const graph = buildGraph(flamebearer(sample));
    const key = keyOf(graph, 6);
    const other = buildGraph(
      flamebearer(node('total', 0, node('main', 0, node('a', 1, leaf('b', 9))))),
    );
    const found = findByKey(other, key);
    expect(found === undefined ? '' : nameOf(other, found)).toBe('b');
    expect(findByKey(graph, 'zzzzzzz')).toBeUndefined();
  });

  test('the node under a position is the one a scan finds', () => {
    fc.assert(
      fc.property(trees, fc.nat(400), fc.nat(6), (tree, at, level) => {
        const graph = buildGraph(flamebearer(tree));
        let scan: number | undefined;
        for (let i = 0; i < graph.count; i++) {
          const x = graph.x[i] ?? 0;
          if (graph.level[i] === level && x <= at && at < x + (graph.value[i] ?? 0)) scan = i;
        }
        expect(nodeAt(graph, level, at)).toBe(scan);
      }),
    );
  });

  test('the first visible node skips what lies to the left', () => {
    const graph = buildGraph(flamebearer(sample));
    expect(firstVisible(graph, 1, 21)).toBe(2);
    expect(firstVisible(graph, 1, 20.9)).toBe(1);
  });
});

describe('search', () => {
  test('a match inside a match is counted once', () => {
    const graph = buildGraph(flamebearer(sample));
    const hits = search(graph, 'REGEX');
    expect(hits?.nodes).toEqual([4, 5, 7]);
    expect(hits?.covered).toBe(11 + 3);
  });

  test('covers what a naive walk covers', () => {
    const naive = (tree: Tree): number =>
      tree.name === 'regex'
        ? totalOf(tree)
        : tree.children.reduce((sum, child) => sum + naive(child), 0);
    fc.assert(
      fc.property(trees, (tree) => {
        expect(search(buildGraph(flamebearer(tree)), 'regex')?.covered).toBe(naive(tree));
      }),
    );
  });

  test('slashes make a regular expression, a broken one matches nothing', () => {
    const graph = buildGraph(flamebearer(sample));
    expect(search(graph, '/^(a|b)$/')?.nodes).toEqual([3, 6]);
    expect(search(graph, '/(/')?.nodes).toEqual([]);
    expect(search(graph, '  ')).toBeUndefined();
  });
});

describe('labels', () => {
  test('shorten from the outside', () => {
    const name = 'order::ProcessOrder(http::Request const&)';
    expect(fitLabel(name, 60)).toBe(name);
    expect(fitLabel(name, 20)).toBe('order::ProcessOrder');
    expect(fitLabel(name, 13)).toBe('ProcessOrder');
    expect(fitLabel(name, 8)).toBe('Process…');
    expect(fitLabel(name, 2)).toBe('');
    expect(fitLabel('operator<', 9)).toBe('operator<');
  });

  test('modules are the outermost scope', () => {
    expect(moduleOf('std::__detail::_Executor<a::b>::_M_dfs()')).toBe('std');
    expect(moduleOf('github.com/a/b.(*T).Run')).toBe('github.com/a/b');
    expect(moduleOf('memcpy')).toBe('memcpy');
    expect(colourOf('std::a')).toBe(colourOf('std::b'));
    expect(colourOf('x::y')).toBeLessThan(kModuleColours);
  });
});

describe('facts of a frame', () => {
  const profile: Profile = {
    type: 'process_cpu:cpu:nanoseconds:cpu:nanoseconds',
    tier: 'span',
    mode: 'self',
    samples: 28,
    periodNs: 1,
    total: 28,
    window: undefined,
    agents: [],
    note: '',
    spans: 1,
    flame: flamebearer(sample),
    top: [
      {
        function: 'idle',
        file: 'demo/idle.cc',
        line: 7,
        self: 7,
        total: 7,
        share: 0.25,
        shareLow: 0.12,
        shareHigh: 0.44,
        samples: 7,
        lines: [],
      },
    ],
  };

  test("the only frame of a function has the server's interval", () => {
    const facts = factsOf(profile, buildGraph(profile.flame), 2);
    expect(facts).toMatchObject({
      low: 0.12,
      high: 0.44,
      samples: 7,
      file: 'demo/idle.cc',
      line: 7,
    });
  });

  test('other frames have an interval around their share, the root has none', () => {
    const graph = buildGraph(profile.flame);
    const facts = factsOf(profile, graph, 3);
    expect(facts.low).toBeLessThan(facts.share);
    expect(facts.high).toBeGreaterThan(facts.share);
    const root = factsOf(profile, graph, 0);
    expect(root.low).toBe(root.high);
  });

  test('places are short unless asked', () => {
    expect(placeOf('demo/a/b.cc', 12)).toBe('b.cc:12');
    expect(placeOf('demo/a/b.cc', 12, false)).toBe('demo/a/b.cc:12');
    expect(placeOf('demo/a/b.cc', 0)).toBe('b.cc');
    expect(placeOf('', 12)).toBe('');
  });
});
