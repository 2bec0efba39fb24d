// The flame graph: canvas, search, path, keyboard, and the docked bar with the numbers of one frame.
import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { formatCount, formatShare, formatShareInterval, formatValue, plural } from '../base/format';
import { FlameCanvas, kRowHeight } from '../canvas/flame';
import {
  buildGraph,
  type FlameGraph,
  findByKey,
  heaviestChild,
  heaviestSelf,
  keyOf,
  nameOf,
  pathOf,
  sharedLevels,
  sibling,
} from '../logic/flame/graph';
import { factsOf, placeOf } from '../logic/flame/node_facts';
import { type Hits, search } from '../logic/flame/search';
import { typeWords } from '../logic/trace/words';
import type { Profile } from '../model/explanation';
import { colours } from '../theme/tokens';
import { CopyButton } from './copy_button';
import { FlameTree, nodeText, treeItemId } from './flame_tree';
import { Icon } from './icons';

const kMaxHeight = 432;
const kMinHeight = 108;

interface DetailProps {
  readonly profile: Profile;
  readonly graph: FlameGraph;
  readonly node: number;
}

const Detail = ({ profile, graph, node }: DetailProps): JSX.Element => {
  const facts = factsOf(profile, graph, node);
  const { unit } = typeWords(profile.type);
  const stack = pathOf(graph, node).map((at) => nameOf(graph, at));
  const place = placeOf(facts.file, facts.line, false);
  return (
    <div class="flame-detail" data-testid="flame-detail">
      <div class="flame-detail-head">
        <code class="flame-detail-name">{facts.name}</code>
        <CopyButton text={facts.name} label="Copy function name" />
        <CopyButton text={stack.join('\n')} label="Copy stack" caption="stack" />
      </div>
      <dl class="facts">
        <div>
          <dt>total</dt>
          <dd class="number">{formatValue(facts.total, unit)}</dd>
        </div>
        <div>
          <dt>self</dt>
          <dd class="number">{formatValue(facts.self, unit)}</dd>
        </div>
        <div>
          <dt>share</dt>
          <dd class="number">
            {formatShare(facts.share)}
            {facts.high > facts.low ? (
              <span class="muted"> {formatShareInterval(facts.low, facts.high)}</span>
            ) : null}
          </dd>
        </div>
        <div>
          <dt>samples</dt>
          <dd class="number">{formatCount(facts.samples)}</dd>
        </div>
        {place === '' ? null : (
          <div class="facts-place">
            <dt class="hidden">source</dt>
            <dd>
              <code>{place}</code>
            </dd>
          </div>
        )}
      </dl>
    </div>
  );
};

interface BreadcrumbProps {
  readonly graph: FlameGraph;
  readonly zoom: number;
  readonly onZoom: (node: number) => void;
}

const Breadcrumbs = ({ graph, zoom, onZoom }: BreadcrumbProps): JSX.Element | null => {
  if (zoom === 0) return null;
  const path = pathOf(graph, zoom);
  const shown = path.length > 4 ? [path[0] ?? 0, ...path.slice(-3)] : path;
  return (
    <nav class="crumbs" aria-label="Zoomed frames">
      {shown.map((node, index) => (
        <span key={node} class="crumb">
          {index > 0 ? (
            <span class="muted">{path.length > 4 && index === 1 ? '… ›' : '›'}</span>
          ) : null}
          <button type="button" class="link" disabled={node === zoom} onClick={() => onZoom(node)}>
            {nameOf(graph, node)}
          </button>
        </span>
      ))}
      <button type="button" class="button quiet" onClick={() => onZoom(0)}>
        <Icon name="close" />
        <span>Reset zoom</span>
      </button>
    </nav>
  );
};

interface FindProps {
  readonly profile: Profile;
  readonly graph: FlameGraph;
  readonly text: string;
  readonly hits: Hits | undefined;
  readonly onFind: (text: string) => void;
  readonly onStep: (step: number) => void;
}

const FindBox = (props: FindProps): JSX.Element => {
  const { graph, hits, profile } = props;
  const share = graph.total > 0 ? (hits?.covered ?? 0) / graph.total : 0;
  return (
    <div class="find">
      <Icon name="search" />
      <input
        type="search"
        class="input"
        placeholder="Find function or /regex/"
        aria-label="Find in flame graph"
        data-flame-find
        value={props.text}
        onInput={(event) => props.onFind(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') props.onStep(event.shiftKey ? -1 : 1);
          if (event.key === 'Escape') props.onFind('');
        }}
      />
      <output class="number small" data-testid="find-result">
        {hits === undefined
          ? ''
          : hits.nodes.length === 0
            ? 'no match'
            : `${plural(hits.nodes.length, 'frame')}, ${formatShare(share)} (${plural(
                Math.round(share * profile.samples),
                'sample',
              )})`}
      </output>
    </div>
  );
};

interface Chosen {
  readonly graph: FlameGraph;
  readonly find: string;
  readonly node: number;
}

export interface FlameGraphProps {
  readonly profile: Profile;
  readonly upward: boolean;
  readonly zoomKey: string;
  readonly find: string;
  readonly onZoom: (key: string) => void;
  readonly onFind: (text: string) => void;
}

export const FlameGraphView = (props: FlameGraphProps): JSX.Element => {
  const { profile, upward, zoomKey, find, onZoom } = props;
  const base = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<FlameCanvas | undefined>(undefined);
  const graph = useMemo(() => buildGraph(profile.flame), [profile]);
  const hits = useMemo(() => search(graph, find), [graph, find]);
  const zoom = (zoomKey === '' ? 0 : findByKey(graph, zoomKey)) ?? 0;
  const chosen = useSignal<Chosen | undefined>(undefined);
  const hovered = useSignal<number | undefined>(undefined);
  // A choice holds for its graph and its search; a new search chooses its first match.
  const kept = chosen.value?.graph === graph && chosen.value.find === find;
  const current = kept ? (chosen.value?.node ?? 0) : (hits?.nodes[0] ?? heaviestSelf(graph) ?? 0);
  const height = graph.levels * kRowHeight;
  const viewHeight = Math.max(kMinHeight, Math.min(kMaxHeight, height));

  useLayoutEffect(() => {
    if (!host.current) return undefined;
    const made = new FlameCanvas(host.current);
    canvas.current = made;
    return () => {
      made.dispose();
      canvas.current = undefined;
    };
  }, []);

  const palette = useComputed(() => colours.value).value;
  useLayoutEffect(() => {
    canvas.current?.show({ graph, colours: palette, hits, zoom, chosen: current, upward });
  }, [graph, palette, hits, zoom, current, upward]);

  useSignalEffect(() => canvas.current?.hover(hovered.value));

  useEffect(() => {
    const box = scroller.current;
    // Starts where samples part; what is above them (a thread's start, a server's loop) is a scroll away.
    const skipped = Math.max(0, sharedLevels(graph) - 2) * kRowHeight;
    if (box) box.scrollTop = upward ? box.scrollHeight - box.clientHeight - skipped : skipped;
    if (graph.count > 0) hovered.value = undefined;
  }, [graph, upward, hovered]);

  const choose = (node: number): void => {
    chosen.value = { graph, find, node };
    const box = scroller.current;
    if (!box) return;
    const level = graph.level[node] ?? 0;
    const top = (upward ? graph.levels - 1 - level : level) * kRowHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + kRowHeight > box.scrollTop + box.clientHeight) {
      box.scrollTop = top + kRowHeight - box.clientHeight;
    }
  };
  const zoomTo = (node: number): void => {
    choose(node);
    onZoom(node === 0 ? '' : keyOf(graph, node));
  };
  const step = (by: number): void => {
    const nodes = hits?.nodes ?? [];
    if (nodes.length === 0) return;
    const at = nodes.indexOf(current);
    const next = at < 0 ? (by > 0 ? 0 : nodes.length - 1) : (at + by + nodes.length) % nodes.length;
    choose(nodes[next] ?? 0);
  };
  const toParent = (): void => {
    const parent = graph.parent[current] ?? -1;
    if (parent >= 0) choose(parent);
  };
  const toChild = (): void => {
    const child = heaviestChild(graph, current);
    if (child !== undefined) choose(child);
  };
  const aside = (by: number): void => {
    const next = sibling(graph, current, by);
    if (next !== undefined) choose(next);
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowUp: upward ? toChild : toParent,
    ArrowDown: upward ? toParent : toChild,
    ArrowLeft: () => aside(-1),
    ArrowRight: () => aside(1),
    Home: () => choose(0),
    Enter: () => zoomTo(current),
    Escape: () => zoomTo(zoom === 0 ? 0 : Math.max(0, graph.parent[zoom] ?? 0)),
    n: () => step(1),
    N: () => step(-1),
  };
  const nodeUnder = (event: MouseEvent): number | undefined => {
    const box = host.current?.getBoundingClientRect();
    return box ? canvas.current?.hit(event.clientX - box.left, event.clientY - box.top) : undefined;
  };

  return (
    <div class="flame-view">
      <FindBox
        profile={profile}
        graph={graph}
        text={find}
        hits={hits}
        onFind={props.onFind}
        onStep={step}
      />
      <Breadcrumbs graph={graph} zoom={zoom} onZoom={zoomTo} />
      <div
        ref={scroller}
        class="flame"
        data-testid="flame"
        role="tree"
        tabIndex={0}
        aria-label={`Flame graph, ${plural(profile.samples, 'sample')}. Arrows move, Enter zooms.`}
        aria-activedescendant={treeItemId(base, current)}
        style={{ '--view': `${viewHeight}px`, '--space': `${height}px` }}
        onScroll={(event) => canvas.current?.scrollTo(event.currentTarget.scrollTop)}
        onKeyDown={(event) => {
          const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
          if (!act) return;
          event.preventDefault();
          event.stopPropagation();
          act();
        }}
        onMouseMove={(event) => {
          hovered.value = nodeUnder(event);
        }}
        onMouseLeave={() => {
          hovered.value = undefined;
        }}
        onClick={(event) => {
          const node = nodeUnder(event);
          if (node !== undefined) zoomTo(node === zoom ? 0 : node);
        }}
      >
        <div class="flame-space">
          <div ref={host} class="flame-host" />
        </div>
        {graph.count > 0 ? (
          <FlameTree base={base} profile={profile} graph={graph} chosen={current} />
        ) : null}
      </div>
      {graph.count > 0 ? (
        <Detail profile={profile} graph={graph} node={hovered.value ?? current} />
      ) : null}
      <p class="hidden" aria-live="polite">
        {kept ? nodeText(profile, graph, current) : ''}
      </p>
    </div>
  );
};
