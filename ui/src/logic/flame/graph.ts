// A flame graph as columns: nodes level by level, each level sorted by x, with parents and stable keys.
import { fnv1a } from '../../base/hash';
import type { Flamebearer } from '../../model/explanation';

export interface FlameGraph {
  readonly names: readonly string[];
  readonly count: number;
  readonly total: number;
  readonly levels: number;
  /** Nodes of level l are [levelStart[l], levelStart[l + 1]). */
  readonly levelStart: Int32Array;
  readonly name: Int32Array;
  readonly level: Int32Array;
  readonly parent: Int32Array;
  readonly x: Float64Array;
  readonly value: Float64Array;
  readonly self: Float64Array;
  /** Hash of the path of names from the root: the same node has the same key in every profile. */
  readonly key: Uint32Array;
}

const kMaxLevels = 4096;

/** Reads the flamebearer shape; a child that lies outside every parent is dropped. */
export const buildGraph = (source: Flamebearer): FlameGraph => {
  const levels = source.levels.slice(0, kMaxLevels);
  const capacity = levels.reduce((sum, row) => sum + Math.floor(row.length / 4), 0);
  const name = new Int32Array(capacity);
  const level = new Int32Array(capacity);
  const parent = new Int32Array(capacity).fill(-1);
  const x = new Float64Array(capacity);
  const value = new Float64Array(capacity);
  const self = new Float64Array(capacity);
  const key = new Uint32Array(capacity);
  const levelStart = new Int32Array(levels.length + 1);
  let count = 0;
  for (let l = 0; l < levels.length; l++) {
    const row = levels[l] ?? [];
    const above = l === 0 ? 0 : (levelStart[l - 1] ?? 0);
    const aboveEnd = count;
    levelStart[l] = count;
    let at = 0;
    let p = above;
    for (let i = 0; i + 3 < row.length; i += 4) {
      const start = at + (row[i] ?? 0);
      const total = row[i + 1] ?? 0;
      at = start + total;
      if (l > 0) {
        while (p < aboveEnd && (x[p] ?? 0) + (value[p] ?? 0) <= start) p++;
        if (p >= aboveEnd || (x[p] ?? 0) > start) continue;
        parent[count] = p;
      }
      const index = row[i + 3] ?? 0;
      name[count] = index;
      level[count] = l;
      x[count] = start;
      value[count] = total;
      self[count] = row[i + 2] ?? 0;
      key[count] = fnv1a(source.names[index] ?? '', l === 0 ? undefined : key[p]);
      count++;
    }
  }
  levelStart[levels.length] = count;
  const rootTotal = count > 0 ? (value[0] ?? 0) : 0;
  return {
    names: source.names,
    count,
    total: source.total > 0 ? source.total : rootTotal,
    levels: levels.length,
    levelStart,
    name,
    level,
    parent,
    x,
    value,
    self,
    key,
  };
};

export const nameOf = (graph: FlameGraph, node: number): string =>
  graph.names[graph.name[node] ?? -1] ?? '';

export const keyOf = (graph: FlameGraph, node: number): string =>
  (graph.key[node] ?? 0).toString(36);

export const findByKey = (graph: FlameGraph, key: string): number | undefined => {
  const wanted = Number.parseInt(key, 36);
  for (let i = 0; i < graph.count; i++) if (graph.key[i] === wanted) return i;
  return undefined;
};

/** Names from the root to the node. */
export const pathOf = (graph: FlameGraph, node: number): number[] => {
  const path: number[] = [];
  for (let at = node; at >= 0; at = graph.parent[at] ?? -1) path.push(at);
  return path.reverse();
};

export const childrenOf = (graph: FlameGraph, node: number): number[] => {
  const next = (graph.level[node] ?? 0) + 1;
  const result: number[] = [];
  if (next >= graph.levels) return result;
  const end = graph.levelStart[next + 1] ?? graph.count;
  for (let i = graph.levelStart[next] ?? 0; i < end; i++) {
    if (graph.parent[i] === node) result.push(i);
  }
  return result;
};

export const heaviestChild = (graph: FlameGraph, node: number): number | undefined => {
  let best: number | undefined;
  for (const child of childrenOf(graph, node)) {
    if (best === undefined || (graph.value[child] ?? 0) > (graph.value[best] ?? 0)) best = child;
  }
  return best;
};

/** The neighbour under the same parent; `step` is -1 or 1. */
export const sibling = (graph: FlameGraph, node: number, step: number): number | undefined => {
  const other = node + step;
  if (other < 0 || other >= graph.count) return undefined;
  return graph.level[other] === graph.level[node] && graph.parent[other] === graph.parent[node]
    ? other
    : undefined;
};

/** The node with the greatest own value: what one wants to see first. */
export const heaviestSelf = (graph: FlameGraph): number | undefined => {
  let best: number | undefined;
  for (let i = 0; i < graph.count; i++) {
    if ((graph.self[i] ?? 0) > (best === undefined ? 0 : (graph.self[best] ?? 0))) best = i;
  }
  return best;
};

/** First node of the level whose right edge lies beyond `at`. */
export const firstVisible = (graph: FlameGraph, level: number, at: number): number => {
  let low = graph.levelStart[level] ?? 0;
  let high = graph.levelStart[level + 1] ?? graph.count;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((graph.x[mid] ?? 0) + (graph.value[mid] ?? 0) <= at) low = mid + 1;
    else high = mid;
  }
  return low;
};

/** The node of a level that covers the value position, if any. */
export const nodeAt = (graph: FlameGraph, level: number, at: number): number | undefined => {
  if (level < 0 || level >= graph.levels) return undefined;
  const node = firstVisible(graph, level, at);
  const end = graph.levelStart[level + 1] ?? graph.count;
  return node < end && (graph.x[node] ?? 0) <= at ? node : undefined;
};

/** How many levels from the root hold one frame that is in all samples: the way to the work. */
export const sharedLevels = (graph: FlameGraph): number => {
  let level = 0;
  while (level < graph.levels) {
    const first = graph.levelStart[level] ?? 0;
    const alone = (graph.levelStart[level + 1] ?? 0) - first === 1;
    if (!alone || graph.value[first] !== graph.value[0]) break;
    level++;
  }
  return level;
};
