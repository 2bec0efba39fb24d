// Where the page is: the address as a signal, and the two ways to change it.
import { computed, signal } from '@preact/signals';
import { parsePath } from './url';

interface Location {
  readonly path: string;
  readonly search: string;
}

const here = (): Location => ({ path: window.location.pathname, search: window.location.search });

const location = signal<Location>(here());

export const page = computed(() => parsePath(location.value.path), { name: 'page' });
export const search = computed(() => location.value.search);
export const path = computed(() => location.value.path);

let pending: ReturnType<typeof setTimeout> | undefined;

const settle = (): void => {
  if (pending === undefined) return;
  clearTimeout(pending);
  pending = undefined;
  window.history.replaceState(null, '', location.value.path + location.value.search);
};

/** A step a person would undo with the back button. */
export const push = (to: string): void => {
  settle();
  const next = new URL(to, window.location.origin);
  window.history.pushState(null, '', next.pathname + next.search);
  location.value = { path: next.pathname, search: next.search };
};

/** Typing and dragging: the page follows at once, the address at most every 150 ms. */
export const replace = (to: string): void => {
  const next = new URL(to, window.location.origin);
  location.value = { path: next.pathname, search: next.search };
  pending ??= setTimeout(settle, 150);
};

const isPlainClick = (event: MouseEvent): boolean =>
  event.button === 0 &&
  !event.defaultPrevented &&
  !event.metaKey &&
  !event.ctrlKey &&
  !event.shiftKey &&
  !event.altKey;

/** Follows links of this page without loading it anew. */
export const start = (): void => {
  window.addEventListener('popstate', () => {
    location.value = here();
  });
  document.addEventListener('click', (event) => {
    if (!isPlainClick(event) || !(event.target instanceof Element)) return;
    const link = event.target.closest('a');
    if (link?.target !== '' || link.hasAttribute('download')) return;
    const url = new URL(link.href, window.location.href);
    if (url.origin !== window.location.origin || url.hash !== '') return;
    if (parsePath(url.pathname).name === 'unknown') return;
    event.preventDefault();
    push(url.pathname + url.search);
    window.scrollTo(0, 0);
  });
};
