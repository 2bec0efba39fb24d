// The critical path: the time that, if saved, makes the trace shorter.
import type { SpanId } from '../../base/brand';
import type { Segment, Tree, TreeNode } from './tree';

const endOf = (node: TreeNode): number => node.span.offsetNs + node.span.durationNs;

/**
 * Walks backwards from the end of each root: the child that finishes last holds the path until it
 * starts, then the last one that finished before it. Returns each span's own pieces; below one root
 * they are disjoint and sum to the root's duration.
 */
export const criticalPath = (tree: Tree): ReadonlyMap<SpanId, readonly Segment[]> => {
  const result = new Map<SpanId, Segment[]>();
  const stack: { readonly node: TreeNode; readonly start: number; readonly end: number }[] = [];
  const root = [...tree.roots].sort((a, b) => b.span.durationNs - a.span.durationNs)[0];
  if (root) stack.push({ node: root, start: root.span.offsetNs, end: endOf(root) });
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { node, start, end } = next;
    const own: Segment[] = [];
    let cursor = end;
    const latest = [...node.children].sort((a, b) => endOf(b) - endOf(a));
    let first = true;
    for (const child of latest) {
      const childEnd = first ? Math.min(endOf(child), cursor) : endOf(child);
      const childStart = Math.max(child.span.offsetNs, start);
      if (childEnd > cursor || childEnd <= childStart) continue;
      first = false;
      if (childEnd < cursor) own.push({ start: childEnd, end: cursor });
      stack.push({ node: child, start: childStart, end: childEnd });
      cursor = childStart;
    }
    if (cursor > start) own.push({ start, end: cursor });
    if (own.length > 0) result.set(node.span.id, own.reverse());
  }
  return result;
};
