// The colours for canvas drawing, read from tokens.css and read again when the theme changes.
import { signal } from '@preact/signals';

export interface CanvasColours {
  readonly ground: string;
  readonly text: string;
  readonly outline: string;
  readonly root: string;
  readonly dim: string;
  readonly dimText: string;
  readonly hit: string;
  readonly hitText: string;
  readonly modules: readonly string[];
}

const read = (): CanvasColours => {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim() || 'gray';
  return {
    ground: colour('--bg'),
    text: colour('--frame-text'),
    outline: colour('--text'),
    root: colour('--frame-root'),
    dim: colour('--dim'),
    dimText: colour('--dim-text'),
    hit: colour('--hit'),
    hitText: colour('--hit-text'),
    modules: Array.from({ length: 12 }, (_, index) => colour(`--m${index}`)),
  };
};

export const colours = signal<CanvasColours>(read());

/** Follows the system's theme from now on. */
export const watchTheme = (): void => {
  colours.value = read();
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    colours.value = read();
  });
};
