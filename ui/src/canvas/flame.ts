// Draws a flame graph: per level only what is visible, bars below one pixel merged, bars of one colour
// in one go, labels only where they fit; what hovers or is chosen is outlined on a layer of its own.
import { type FlameGraph, firstVisible, nameOf, nodeAt } from '../logic/flame/graph';
import { colourOf, fitLabel } from '../logic/flame/label';
import type { Hits } from '../logic/flame/search';
import type { CanvasColours } from '../theme/tokens';
import { Surface } from './surface';

export const kRowHeight = 18;
const kMinLabel = 28;
const kZoomMs = 140;
const kFont = '11px "JetBrains Mono Variable", ui-monospace, monospace';

export interface FlameScene {
  readonly graph: FlameGraph;
  readonly colours: CanvasColours;
  readonly hits: Hits | undefined;
  readonly zoom: number;
  readonly chosen: number | undefined;
  /** True when the root is at the bottom. */
  readonly upward: boolean;
}

interface Span {
  readonly x: number;
  readonly width: number;
}

const ease = (t: number): number => 1 - (1 - t) ** 3;

export class FlameCanvas {
  private readonly surface: Surface;
  private scene: FlameScene | undefined;
  private view: Span = { x: 0, width: 1 };
  private moveFrom: Span | undefined;
  private moveStart = 0;
  private hovered: number | undefined;
  private moduleColours: Int8Array = new Int8Array(0);
  private charWidth = 6.6;
  private scroll = 0;

  constructor(host: HTMLElement) {
    this.surface = new Surface(host, () => this.draw());
    void document.fonts?.load(kFont).then(() => {
      this.measure();
      this.surface.request();
    });
    this.measure();
  }

  show(scene: FlameScene): void {
    const before = this.scene;
    this.scene = scene;
    if (before?.graph !== scene.graph) {
      this.moduleColours = Int8Array.from(scene.graph.names, (name) => colourOf(name));
      this.view = this.target();
      this.moveFrom = undefined;
      this.hovered = undefined;
    } else if (before.zoom !== scene.zoom) {
      const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
      this.moveFrom = still ? undefined : this.view;
      this.moveStart = performance.now();
      if (still) this.view = this.target();
    }
    this.surface.request();
  }

  scrollTo(top: number): void {
    this.scroll = top;
    this.surface.request();
  }

  hover(node: number | undefined): void {
    if (node === this.hovered) return;
    this.hovered = node;
    this.drawOverlay();
  }

  /** The node under a point of the host. */
  hit(x: number, y: number): number | undefined {
    const scene = this.scene;
    if (!scene || this.surface.width === 0) return undefined;
    const row = Math.floor((y + this.scroll) / kRowHeight);
    const level = scene.upward ? this.rows() - 1 - row : row;
    return nodeAt(scene.graph, level, this.view.x + (x / this.surface.width) * this.view.width);
  }

  dispose(): void {
    this.surface.dispose();
  }

  private measure(): void {
    const context = this.surface.base.context;
    if (!context) return;
    context.font = kFont;
    this.charWidth = context.measureText('0'.repeat(20)).width / 20 || 6.6;
  }

  private target(): Span {
    const graph = this.scene?.graph;
    const zoom = this.scene?.zoom ?? 0;
    if (!graph || graph.count === 0) return { x: 0, width: 1 };
    return { x: graph.x[zoom] ?? 0, width: Math.max(1e-9, graph.value[zoom] ?? graph.total) };
  }

  /** Rows of the whole graph, but at least as many as the host is high. */
  private rows(): number {
    const levels = this.scene?.graph.levels ?? 0;
    return Math.max(levels, Math.floor(this.surface.height / kRowHeight));
  }

  private step(): void {
    if (this.moveFrom === undefined) return;
    const t = Math.min(1, (performance.now() - this.moveStart) / kZoomMs);
    const to = this.target();
    const k = ease(t);
    this.view = {
      x: this.moveFrom.x + (to.x - this.moveFrom.x) * k,
      width: this.moveFrom.width + (to.width - this.moveFrom.width) * k,
    };
    if (t >= 1) this.moveFrom = undefined;
    else this.surface.request();
  }

  private draw(): void {
    const context = this.surface.base.context;
    const scene = this.scene;
    if (!context || !scene) return;
    this.step();
    const { width, height } = this.surface;
    context.fillStyle = scene.colours.ground;
    context.fillRect(0, 0, width, height);
    if (scene.graph.count === 0) return;
    const palette = [
      ...scene.colours.modules,
      scene.colours.root,
      scene.colours.dim,
      scene.colours.hit,
    ];
    const kRoot = scene.colours.modules.length;
    const buckets: number[][] = palette.map(() => []);
    const labels: { text: string; x: number; y: number; bucket: number }[] = [];
    const zoomLevel = scene.graph.level[scene.zoom] ?? 0;
    for (let level = 0; level < scene.graph.levels; level++) {
      const y = this.yOf(level);
      if (y + kRowHeight <= 0 || y >= height) continue;
      this.collect(level, y, zoomLevel, kRoot, buckets, labels);
    }
    for (let bucket = 0; bucket < buckets.length; bucket++) {
      context.fillStyle = palette[bucket] ?? 'gray';
      const rects = buckets[bucket] ?? [];
      for (let i = 0; i + 2 < rects.length; i += 3) {
        const w = rects[i + 2] ?? 0;
        context.fillRect(rects[i] ?? 0, rects[i + 1] ?? 0, w > 2 ? w - 1 : w, kRowHeight - 1);
      }
    }
    context.font = kFont;
    context.textBaseline = 'middle';
    for (const { text, x, y, bucket } of labels) {
      context.fillStyle =
        bucket === kRoot + 2
          ? scene.colours.hitText
          : bucket === kRoot + 1
            ? scene.colours.dimText
            : scene.colours.text;
      context.fillText(text, x + 4, y + kRowHeight / 2);
    }
    this.drawOverlay();
  }

  private yOf(level: number): number {
    const row = this.scene?.upward ? this.rows() - 1 - level : level;
    return row * kRowHeight - this.scroll;
  }

  private collect(
    level: number,
    y: number,
    zoomLevel: number,
    kRoot: number,
    buckets: number[][],
    labels: { text: string; x: number; y: number; bucket: number }[],
  ): void {
    const scene = this.scene;
    if (!scene) return;
    const { graph, hits } = scene;
    const { width } = this.surface;
    const scale = width / this.view.width;
    const end = graph.levelStart[level + 1] ?? graph.count;
    const right = this.view.x + this.view.width;
    let node = firstVisible(graph, level, this.view.x);
    while (node < end && (graph.x[node] ?? 0) < right) {
      const x = ((graph.x[node] ?? 0) - this.view.x) * scale;
      let w = (graph.value[node] ?? 0) * scale;
      const match = hits?.match[node] === 1;
      const index = graph.name[node] ?? 0;
      let bucket = graph.parent[node] === -1 ? kRoot : (this.moduleColours[index] ?? 0);
      if (level < zoomLevel || (hits && !match)) bucket = kRoot + 1;
      if (match) bucket = kRoot + 2;
      let next = node + 1;
      // A strip of bars below one pixel is one bar; a hit among them keeps a strip of its own.
      while (w < 1 && next < end && (hits?.match[next] === 1) === match) {
        const nextX = ((graph.x[next] ?? 0) - this.view.x) * scale;
        const nextW = (graph.value[next] ?? 0) * scale;
        if (nextW >= 1 || nextX - x > 1) break;
        w = nextX + nextW - x;
        next++;
      }
      const from = Math.max(0, x);
      const drawn = Math.min(width, x + w) - from;
      if (drawn > 0) {
        buckets[bucket]?.push(from, y, Math.max(match ? 1.5 : 0.5, drawn));
        if (drawn >= kMinLabel && next === node + 1) {
          const chars = Math.floor((drawn - 8) / this.charWidth);
          const text = fitLabel(nameOf(graph, node), chars);
          if (text !== '') labels.push({ text, x: from, y, bucket });
        }
      }
      node = next;
    }
  }

  private drawOverlay(): void {
    const context = this.surface.overlay.context;
    const scene = this.scene;
    if (!context || !scene) return;
    context.clearRect(0, 0, this.surface.width, this.surface.height);
    this.outline(context, scene.chosen, 2);
    this.outline(context, this.hovered, 1);
  }

  private outline(context: CanvasRenderingContext2D, node: number | undefined, line: number): void {
    const scene = this.scene;
    if (!scene || node === undefined || node >= scene.graph.count) return;
    const scale = this.surface.width / this.view.width;
    const left = ((scene.graph.x[node] ?? 0) - this.view.x) * scale;
    const x = Math.max(0, left);
    const right = Math.min(this.surface.width, left + (scene.graph.value[node] ?? 0) * scale);
    if (right <= x) return;
    context.strokeStyle = scene.colours.outline;
    context.lineWidth = line;
    const y = this.yOf(scene.graph.level[node] ?? 0);
    context.strokeRect(x + line / 2, y + line / 2 - 0.5, right - x - line, kRowHeight - line);
  }
}
