// Search in a flame graph: which frames match, and what share they cover without counting twice.
import type { FlameGraph } from './graph';

export interface Hits {
  /** 1 for a node whose name matches. */
  readonly match: Uint8Array;
  /** Matching nodes in drawing order, for next and previous. */
  readonly nodes: readonly number[];
  /** Value under matching nodes; a match inside a match is counted once. */
  readonly covered: number;
}

/** A predicate of a search text: `/…/` is a regular expression, anything else a part of the name. */
export const matcherOf = (text: string): ((name: string) => boolean) | undefined => {
  const wanted = text.trim();
  if (wanted === '') return undefined;
  const regex = /^\/(.+)\/$/.exec(wanted);
  if (regex?.[1] !== undefined) {
    try {
      const compiled = new RegExp(regex[1], 'i');
      return (name) => compiled.test(name);
    } catch {
      return () => false;
    }
  }
  const lower = wanted.toLowerCase();
  return (name) => name.toLowerCase().includes(lower);
};

export const search = (graph: FlameGraph, text: string): Hits | undefined => {
  const matches = matcherOf(text);
  if (!matches) return undefined;
  const wanted = graph.names.map(matches);
  const match = new Uint8Array(graph.count);
  const inside = new Uint8Array(graph.count);
  const nodes: number[] = [];
  let covered = 0;
  for (let i = 0; i < graph.count; i++) {
    const parent = graph.parent[i] ?? -1;
    const below = parent >= 0 && inside[parent] === 1;
    const hit = wanted[graph.name[i] ?? -1] === true;
    if (hit) {
      match[i] = 1;
      nodes.push(i);
      if (!below) covered += graph.value[i] ?? 0;
    }
    if (hit || below) inside[i] = 1;
  }
  return { match, nodes, covered };
};
