// A canvas that follows its box: device pixels, one redraw per frame, and an overlay for what hovers.

export interface Layer {
  readonly element: HTMLCanvasElement;
  readonly context: CanvasRenderingContext2D | null;
}

const layerOf = (opaque: boolean, name: string): Layer => {
  const element = document.createElement('canvas');
  element.className = name;
  element.setAttribute('aria-hidden', 'true');
  return { element, context: element.getContext('2d', { alpha: !opaque }) };
};

export class Surface {
  readonly base = layerOf(true, 'layer');
  readonly overlay = layerOf(false, 'layer overlay');
  width = 0;
  height = 0;
  private frame = 0;
  private readonly observer: ResizeObserver;

  constructor(
    private readonly host: HTMLElement,
    private readonly draw: () => void,
  ) {
    host.append(this.base.element, this.overlay.element);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(host);
  }

  request(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
    this.base.element.remove();
    this.overlay.element.remove();
  }

  private resize(): void {
    const width = this.host.clientWidth;
    const height = this.host.clientHeight;
    const ratio = Math.max(1, window.devicePixelRatio);
    this.width = width;
    this.height = height;
    for (const { element, context } of [this.base, this.overlay]) {
      element.width = Math.max(1, Math.round(width * ratio));
      element.height = Math.max(1, Math.round(height * ratio));
      context?.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.draw();
  }
}
