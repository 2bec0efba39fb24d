// The few icons, drawn in the colour of the text around them.
import type { JSX } from 'preact';

const kPaths = {
  copy: 'M5 2h7a1 1 0 0 1 1 1v8M3 5h6a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1z',
  check: 'M3 8.5l3.2 3.2L13 4.8',
  down: 'M4 6l4 4 4-4',
  right: 'M6 4l4 4-4 4',
  close: 'M4 4l8 8M12 4l-8 8',
  reload: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7L14 14',
  back: 'M10 3L5 8l5 5',
  warn: 'M8 2l6.5 12h-13L8 2zM8 6.5v3.5M8 12v.4',
  samples: 'M2 13V9M5 13V5M8 13V7M11 13V3M14 13v-3',
} as const;

export type IconName = keyof typeof kPaths;

export const Icon = ({ name }: { name: IconName }): JSX.Element => (
  <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
    <path d={kPaths[name]} />
  </svg>
);
