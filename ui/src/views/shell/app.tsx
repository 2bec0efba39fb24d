// The frame of every page: mark, way home, box for a trace id, and the page itself.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { isTyping } from '../../base/dom';
import * as route from '../../state/route';
import { pathOfPasted } from '../../state/url';
import { Notice } from '../../widgets/notice';
import { Lazy } from './lazy';

const tracesPage = async () => (await import('../traces/traces_page')).TracesPage;
const tracePage = async () => (await import('../trace/trace_page')).TracePage;

const OpenBox = (): JSX.Element => {
  const text = useSignal('');
  const wrong = useSignal(false);
  const open = (event: Event): void => {
    event.preventDefault();
    if (text.value.trim() === '') return;
    const path = pathOfPasted(text.value);
    wrong.value = path === undefined;
    if (path === undefined) return;
    text.value = '';
    route.push(path);
  };
  return (
    <form class="open-box" onSubmit={open}>
      <input
        class="input mono"
        type="text"
        placeholder="Open trace id, traceparent or link"
        aria-label="Open a trace by id, traceparent or link"
        aria-invalid={wrong.value}
        spellcheck={false}
        autocomplete="off"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          wrong.value = false;
        }}
      />
      {wrong.value ? (
        <span class="field-error" role="alert">
          No trace id: 32 hex digits expected
        </span>
      ) : null}
    </form>
  );
};

const Unknown = (): JSX.Element => (
  <Notice kind="empty" title="There is no such page" heading>
    <p>
      The address {route.path.value} leads nowhere. <a href="/traces">Go to the slow traces</a>.
    </p>
  </Notice>
);

const Body = (): JSX.Element => {
  const page = route.page.value;
  if (page.name === 'traces') return <Lazy key="traces" load={tracesPage} />;
  if (page.name === 'trace') return <Lazy key="trace" load={tracePage} />;
  return <Unknown />;
};

export const App = (): JSX.Element => {
  const name = route.page.value.name;
  useEffect(() => {
    const find = (event: KeyboardEvent): void => {
      if (event.key !== '/' || isTyping(event.target)) return;
      const box = document.querySelector<HTMLInputElement>('[data-flame-find], [data-page-find]');
      if (!box) return;
      event.preventDefault();
      box.focus();
      box.select();
    };
    document.addEventListener('keydown', find);
    return () => document.removeEventListener('keydown', find);
  }, []);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="topbar">
        <a class="mark" href="/traces">
          <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true" focusable="false">
            <rect class="mark-a" x="1" y="2" width="14" height="3" rx="1" />
            <rect class="mark-b" x="4" y="6.5" width="9" height="3" rx="1" />
            <rect class="mark-c" x="6" y="11" width="4" height="3" rx="1" />
          </svg>
          Hotspan
        </a>
        <nav class="nav" aria-label="Pages">
          <a href="/traces" {...(name === 'traces' ? { 'aria-current': 'page' } : {})}>
            Traces
          </a>
        </nav>
        <OpenBox />
      </header>
      <main id="main" class={`page page-${name}`}>
        <Body />
      </main>
    </>
  );
};
