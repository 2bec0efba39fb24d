// One trace: the waterfall, and beside it why the chosen span is slow.
import type { JSX } from 'preact';
import { trace as traceRequest } from '../../api/client';
import { formatDuration, plural } from '../../base/format';
import { formatDateTime } from '../../base/time';
import { isError } from '../../logic/trace/tree';
import type { Trace } from '../../model/trace';
import { explanations, traceCache } from '../../state/data';
import { splitPercent } from '../../state/prefs';
import * as route from '../../state/route';
import { parseTrace, printTrace, type TraceState } from '../../state/url';
import { CopyButton } from '../../widgets/copy_button';
import { Notice, Skeleton } from '../../widgets/notice';
import { Splitter } from '../../widgets/splitter';
import { Waterfall } from '../../widgets/waterfall';
import { serviceClass } from '../../widgets/waterfall_rows';
import { ErrorNotice } from '../shell/error_notice';
import { ExplanationPanel, explanationOf } from './explanation_panel';

const Head = ({ trace }: { trace: Trace }): JSX.Element => {
  const root = trace.spans.find((span) => span.id === trace.rootId) ?? trace.spans[0];
  const errors = trace.spans.filter(isError).length;
  return (
    <div class="trace-head">
      <h1>{root?.name ?? 'Trace'}</h1>
      <span class="big number">{formatDuration(trace.durationNs)}</span>
      <span class="trace-facts">
        <span class="number">{plural(trace.spans.length, 'span')}</span>
        <span class="number">{plural(trace.services.length, 'service')}</span>
        {errors > 0 ? <span class="number error-text">{plural(errors, 'error')}</span> : null}
        <span class="number muted">{formatDateTime(trace.startNs)}</span>
        <span class="trace-id">
          <code class="muted">{trace.id}</code>
          <CopyButton text={trace.id} label="Copy trace id" />
        </span>
        <CopyButton text={window.location.href} label="Copy link to this view" caption="link" />
      </span>
      <ul class="trace-services" aria-label="Services of the trace">
        {trace.services.map((service) => (
          <li key={service.service}>
            <span class={`stripe ${serviceClass(service.service)}`} />
            {service.service} <span class="muted number">{formatDuration(service.selfNs)}</span>
          </li>
        ))}
        <li class="muted">
          <span class="critical-key" aria-hidden="true" />
          critical path
        </li>
      </ul>
    </div>
  );
};

const View = ({ trace, state }: { trace: Trace; state: TraceState }): JSX.Element => {
  const byId = new Map(trace.spans.map((span) => [span.id, span]));
  const wanted = state.span !== undefined && byId.has(state.span) ? state.span : undefined;
  const chosen = wanted ?? trace.suggestedId ?? trace.rootId ?? trace.spans[0]?.id;
  const at = (change: Partial<TraceState>): string =>
    `/trace/${trace.id}${printTrace({ ...parseTrace(route.search.peek()), ...change }, route.search.peek())}`;
  const push = (change: Partial<TraceState>): void => route.push(at(change));
  const replace = (change: Partial<TraceState>): void => route.replace(at(change));
  return (
    <>
      <Head trace={trace} />
      {trace.truncated ? (
        <Notice kind="partial" title="The trace is not complete">
          <p>It has more spans than one answer holds; the longest are here.</p>
        </Notice>
      ) : null}
      {state.span !== undefined && wanted === undefined ? (
        <Notice kind="partial" title="The span of this link is not in the trace">
          <p>
            Span {state.span} may not have arrived yet, or retention has removed it. The span that
            held the trace up is shown instead.
          </p>
        </Notice>
      ) : null}
      <div class="split" style={{ '--split': `${splitPercent.value}%` }}>
        <Waterfall
          trace={trace}
          chosen={chosen}
          onChoose={(span) => push({ span, zoom: '', tier: 'auto' })}
        />
        <Splitter
          label="Width of the waterfall"
          value={splitPercent.value}
          onChange={(value) => {
            splitPercent.value = value;
          }}
        />
        {chosen === undefined ? null : (
          <ExplanationPanel
            traceId={trace.id}
            spanId={chosen}
            span={byId.get(chosen)}
            traceNs={trace.durationNs}
            state={state}
            onPush={push}
            onReplace={replace}
          />
        )}
      </div>
    </>
  );
};

export const TracePage = (): JSX.Element => {
  const page = route.page.value;
  const state = parseTrace(route.search.value);
  const id = page.name === 'trace' ? page.id : '';
  document.title = `Trace ${id.slice(0, 8)} · Hotspan`;
  const request = traceRequest(id);
  const loaded = traceCache.get(request).value;
  if (state.span !== undefined) explanations.get(explanationOf(id, state.span, state));
  if (loaded.value !== undefined) {
    if (loaded.value.spans.length > 0) return <View key={id} trace={loaded.value} state={state} />;
    return <Notice kind="empty" title="This trace has no spans" heading />;
  }
  if (loaded.error?.status === 404) {
    return (
      <Notice kind="empty" title="No such trace" heading>
        <p>
          Trace <code>{id}</code> is not stored here. It may not have arrived yet, may not have been
          sampled, or retention has removed it.
        </p>
        <p class="actions">
          <button type="button" class="button" onClick={() => traceCache.reload(request)}>
            Look again
          </button>
          <a class="button" href="/traces">
            Slow traces
          </a>
        </p>
      </Notice>
    );
  }
  if (loaded.error !== undefined) {
    return (
      <ErrorNotice
        what="The trace could not be read"
        heading
        error={loaded.error}
        onRetry={() => traceCache.reload(request)}
      />
    );
  }
  return <Skeleton rows={14} label="Loading the trace" />;
};
