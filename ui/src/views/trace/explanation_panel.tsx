// Why the chosen span is slow: comparison, ledger, findings, code, and what is missing.
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { explanation as explanationRequest } from '../../api/client';
import type { SpanId } from '../../base/brand';
import { formatDuration, formatShare } from '../../base/format';
import { baselineDetail, baselineSentence } from '../../logic/trace/words';
import type { Explanation } from '../../model/explanation';
import type { Span } from '../../model/trace';
import { explanations } from '../../state/data';
import type { TraceState } from '../../state/url';
import { LedgerBar } from '../../widgets/ledger_bar';
import { Skeleton } from '../../widgets/notice';
import { serviceClass } from '../../widgets/waterfall_rows';
import { ErrorNotice } from '../shell/error_notice';
import { Findings } from './findings';
import { MissingList } from './missing_list';
import { ProfilePanel } from './profile_panel';
import { SpanDetails } from './span_details';

interface ExplanationPanelProps {
  readonly traceId: string;
  readonly spanId: SpanId;
  readonly span: Span | undefined;
  readonly traceNs: number;
  readonly state: TraceState;
  readonly onPush: (change: Partial<TraceState>) => void;
  readonly onReplace: (change: Partial<TraceState>) => void;
}

const Head = (props: { explanation: Explanation; traceNs: number }): JSX.Element => {
  const { explanation, traceNs } = props;
  const { baseline, durationNs } = explanation;
  const slow = baseline !== undefined && baseline.ratio >= 1.5;
  return (
    <div class="explain-head">
      <h2>
        <span class={`stripe ${serviceClass(explanation.service)}`} />
        {explanation.name}
        <span class="muted"> {explanation.service}</span>
        {explanation.status === 'error' ? <span class="badge error">error</span> : null}
      </h2>
      <p class={`baseline${slow ? ' slow' : ''}`} data-testid="baseline">
        {baselineSentence(durationNs, baseline)}
      </p>
      <p class="muted small">
        {traceNs > 0 ? `${formatShare(Math.min(1, durationNs / traceNs))} of the trace` : ''}
        {baseline === undefined ? '' : ` · ${baselineDetail(baseline)}`}
      </p>
    </div>
  );
};

const Content = (props: ExplanationPanelProps & { explanation: Explanation }): JSX.Element => {
  const { explanation, state, span, onPush, onReplace } = props;
  const hasSamples = explanation.profiles.some((profile) => profile.samples > 0);
  const find = (name: string): void => onReplace({ find: name });
  return (
    <>
      <Head explanation={explanation} traceNs={props.traceNs} />
      {explanation.ledger === undefined ? null : <LedgerBar ledger={explanation.ledger} />}
      <Findings findings={explanation.findings} onFind={find} />
      <MissingList
        missing={explanation.missing}
        onWiden={
          hasSamples || state.tier === 'service' ? undefined : () => onPush({ tier: 'service' })
        }
      />
      <ProfilePanel explanation={explanation} state={state} onPush={onPush} onReplace={onReplace} />
      {span === undefined ? null : <SpanDetails span={span} />}
    </>
  );
};

/** The request behind the panel; the page starts it before the trace has arrived. */
export const explanationOf = (traceId: string, spanId: SpanId, state: TraceState) =>
  explanationRequest({
    trace_id: traceId,
    span_id: spanId,
    mode: state.mode === 'with_children' ? 'with_children' : 'self',
    tier: state.tier === 'auto' ? undefined : state.tier,
  });

export const ExplanationPanel = (props: ExplanationPanelProps): JSX.Element => {
  const request = explanationOf(props.traceId, props.spanId, props.state);
  const loaded = explanations.get(request).value;
  // While another mode of the same span is on its way, what is there stays.
  const last = useRef<{ readonly spanId: SpanId; readonly value: Explanation } | undefined>(
    undefined,
  );
  if (loaded.value !== undefined) last.current = { spanId: props.spanId, value: loaded.value };
  const kept =
    loaded.loading && last.current?.spanId === props.spanId ? last.current.value : undefined;
  const shown = loaded.value ?? kept;
  return (
    <aside
      class="explanation"
      data-testid="explanation"
      aria-label="Explanation of the chosen span"
      aria-busy={loaded.loading}
    >
      {shown !== undefined ? (
        <Content key={props.spanId} {...props} explanation={shown} />
      ) : loaded.error !== undefined ? (
        <>
          <ErrorNotice
            what="This span could not be explained"
            error={loaded.error}
            onRetry={() => explanations.reload(request)}
          />
          {props.span === undefined ? null : (
            <>
              <p class="muted">{formatDuration(props.span.durationNs)} in all.</p>
              <SpanDetails span={props.span} />
            </>
          )}
        </>
      ) : (
        <Skeleton rows={12} label="Explaining the span" />
      )}
    </aside>
  );
};
