// What a screen reader reads of the flame graph: the chosen frame, its parent and its children.
import type { JSX } from 'preact';
import { formatShare, plural } from '../base/format';
import { childrenOf, type FlameGraph } from '../logic/flame/graph';
import { factsOf, placeOf } from '../logic/flame/node_facts';
import type { Profile } from '../model/explanation';

export const nodeText = (profile: Profile, graph: FlameGraph, node: number): string => {
  const facts = factsOf(profile, graph, node);
  const place = placeOf(facts.file, facts.line);
  return [
    facts.name,
    formatShare(facts.share),
    plural(facts.samples, 'sample'),
    ...(place === '' ? [] : [place]),
  ].join(', ');
};

export const treeItemId = (base: string, node: number): string => `${base}-node-${node}`;

interface FlameTreeProps {
  readonly base: string;
  readonly profile: Profile;
  readonly graph: FlameGraph;
  readonly chosen: number;
}

export const FlameTree = ({ base, profile, graph, chosen }: FlameTreeProps): JSX.Element => {
  const parent = graph.parent[chosen] ?? -1;
  const nodes = [...(parent >= 0 ? [parent] : []), chosen, ...childrenOf(graph, chosen)];
  return (
    <div class="hidden">
      {nodes.map((node) => (
        <div
          key={node}
          id={treeItemId(base, node)}
          role="treeitem"
          tabIndex={-1}
          aria-level={(graph.level[node] ?? 0) + 1}
          aria-selected={node === chosen}
        >
          {nodeText(profile, graph, node)}
        </div>
      ))}
    </div>
  );
};
