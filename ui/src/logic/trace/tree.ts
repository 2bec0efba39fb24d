// The waterfall's tree: spans under their parents, repeated siblings folded, rows that are visible.
import type { SpanId } from '../../base/brand';
import type { Span, Trace } from '../../model/trace';

export interface TreeNode {
  readonly span: Span;
  readonly children: TreeNode[];
  parent: TreeNode | undefined;
}

export interface Tree {
  readonly roots: readonly TreeNode[];
  readonly nodes: ReadonlyMap<SpanId, TreeNode>;
}

/** Siblings of one name from this many on become one row. */
export const kFoldFrom = 5;

const byStart = (a: TreeNode, b: TreeNode): number => a.span.offsetNs - b.span.offsetNs;

/** A span whose parent is not in the trace stands at the top; a cycle is cut at its first span. */
export const buildTree = (trace: Trace): Tree => {
  const nodes = new Map<SpanId, TreeNode>();
  for (const span of trace.spans) {
    if (!nodes.has(span.id)) nodes.set(span.id, { span, children: [], parent: undefined });
  }
  const roots: TreeNode[] = [];
  for (const node of nodes.values()) {
    const parent = node.span.parentId === undefined ? undefined : nodes.get(node.span.parentId);
    let above = parent;
    while (above !== undefined && above !== node) above = above.parent;
    if (parent === undefined || above === node) {
      roots.push(node);
    } else {
      node.parent = parent;
      parent.children.push(node);
    }
  }
  for (const node of nodes.values()) node.children.sort(byStart);
  roots.sort(byStart);
  return { roots, nodes };
};

export interface SpanRow {
  readonly kind: 'span';
  readonly key: string;
  readonly span: Span;
  readonly depth: number;
  readonly hasChildren: boolean;
  readonly open: boolean;
}

export interface GroupRow {
  readonly kind: 'group';
  readonly key: string;
  readonly name: string;
  readonly service: string;
  readonly members: readonly Span[];
  readonly totalNs: number;
  readonly errors: number;
  readonly depth: number;
  readonly open: boolean;
}

export type Row = SpanRow | GroupRow;

const groupKey = (parent: TreeNode | undefined, span: Span): string =>
  `${parent?.span.id ?? 'top'}/${span.service}/${span.name}`;

export const isError = (span: Span): boolean => span.status === 'error';

interface Pending {
  readonly node?: TreeNode;
  readonly group?: { readonly key: string; readonly members: readonly TreeNode[] };
  readonly depth: number;
}

/** Children of a node as rows to come: folded where enough of them share service and name. */
const pendingOf = (
  parent: TreeNode | undefined,
  children: readonly TreeNode[],
  depth: number,
): Pending[] => {
  const byName = new Map<string, TreeNode[]>();
  for (const child of children) {
    const key = groupKey(parent, child.span);
    const list = byName.get(key);
    if (list) list.push(child);
    else byName.set(key, [child]);
  }
  const result: Pending[] = [];
  for (const child of children) {
    const key = groupKey(parent, child.span);
    const members = byName.get(key) ?? [];
    if (members.length < kFoldFrom) result.push({ node: child, depth });
    else if (members[0] === child) result.push({ group: { key, members }, depth });
  }
  return result;
};

/** The rows to show: `closed` spans hide their children, groups hide theirs unless `opened`. */
export const visibleRows = (
  tree: Tree,
  closed: ReadonlySet<string>,
  opened: ReadonlySet<string>,
): Row[] => {
  const rows: Row[] = [];
  const stack: Pending[] = pendingOf(undefined, tree.roots, 0).reverse();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { node, group, depth } = next;
    if (group !== undefined) {
      const open = opened.has(group.key);
      const first = group.members[0]?.span;
      rows.push({
        kind: 'group',
        key: group.key,
        name: first?.name ?? '',
        service: first?.service ?? '',
        members: group.members.map((member) => member.span),
        totalNs: group.members.reduce((sum, member) => sum + member.span.durationNs, 0),
        errors: group.members.filter((member) => isError(member.span)).length,
        depth,
        open,
      });
      if (open) {
        for (const member of [...group.members].reverse()) {
          stack.push({ node: member, depth: depth + 1 });
        }
      }
    } else if (node !== undefined) {
      const open = !closed.has(node.span.id);
      rows.push({
        kind: 'span',
        key: node.span.id,
        span: node.span,
        depth,
        hasChildren: node.children.length > 0,
        open,
      });
      if (open) {
        for (const row of pendingOf(node, node.children, depth + 1).reverse()) stack.push(row);
      }
    }
  }
  return rows;
};

/** What must be opened so that the span is visible. */
export const pathTo = (
  tree: Tree,
  id: SpanId,
): { readonly spans: readonly string[]; readonly groups: readonly string[] } => {
  const spans: string[] = [];
  const groups: string[] = [];
  for (let node = tree.nodes.get(id); node !== undefined; node = node.parent) {
    const of = node;
    if (of.span.id !== id) spans.push(of.span.id);
    const siblings = of.parent?.children ?? tree.roots;
    const same = siblings.filter(
      (other) => other.span.name === of.span.name && other.span.service === of.span.service,
    );
    if (same.length >= kFoldFrom) groups.push(groupKey(of.parent, of.span));
  }
  return { spans, groups };
};

export interface Segment {
  readonly start: number;
  readonly end: number;
}

/** Intervals as shares of the trace, merged where they lie closer than `gap`. */
export const mergeSegments = (segments: readonly Segment[], gap: number): Segment[] => {
  const sorted = [...segments].sort((a, b) => a.start - b.start);
  const result: Segment[] = [];
  for (const segment of sorted) {
    const last = result.at(-1);
    if (last !== undefined && segment.start <= last.end + gap) {
      result[result.length - 1] = { start: last.start, end: Math.max(last.end, segment.end) };
    } else {
      result.push(segment);
    }
  }
  return result;
};
