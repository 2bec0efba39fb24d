// The movable border between two panels: drag it, or use the arrow keys.
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

interface SplitterProps {
  readonly label: string;
  /** Share of the first panel in percent. */
  readonly value: number;
  readonly onChange: (value: number) => void;
}

const kLeast = 20;
const kMost = 75;

export const Splitter = ({ label, value, onChange }: SplitterProps): JSX.Element => {
  const ref = useRef<HTMLDivElement>(null);
  const set = (percent: number): void => onChange(Math.min(kMost, Math.max(kLeast, percent)));
  const move = (event: PointerEvent): void => {
    const box = ref.current?.parentElement?.getBoundingClientRect();
    if (!box || ref.current?.hasPointerCapture(event.pointerId) !== true) return;
    set(((event.clientX - box.left) / box.width) * 100);
  };
  const key = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowLeft' ? -2 : event.key === 'ArrowRight' ? 2 : 0;
    if (step === 0) return;
    event.preventDefault();
    set(value + step);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a focusable separator moves panels, an hr does not
    <div
      ref={ref}
      class="splitter"
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation="vertical"
      aria-valuemin={kLeast}
      aria-valuemax={kMost}
      aria-valuenow={Math.round(value)}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={move}
      onKeyDown={key}
    />
  );
};
