// The code in the span: which profile, of which spans, as graph and as table, and where it is from.
import type { JSX } from 'preact';
import { pooledFlame } from '../../api/client';
import { plural } from '../../base/format';
import { fewSamplesNote, provenanceSentence, typeWords } from '../../logic/trace/words';
import type { Explanation, Profile } from '../../model/explanation';
import { pooledProfiles } from '../../state/data';
import type { FlameView, Scope, TraceState } from '../../state/url';
import { FlameGraphView } from '../../widgets/flame_graph';
import { Notice, Skeleton } from '../../widgets/notice';
import { type Option, Segmented } from '../../widgets/segmented';
import { TopTable } from '../../widgets/top_table';
import { ErrorNotice } from '../shell/error_notice';

const kViews: readonly Option<FlameView>[] = [
  { value: 'icicle', label: 'Icicle', title: 'Root at the top' },
  { value: 'flame', label: 'Flame', title: 'Root at the bottom' },
  { value: 'table', label: 'Table', title: 'Functions only' },
];

interface PanelProps {
  readonly explanation: Explanation;
  readonly state: TraceState;
  readonly onPush: (change: Partial<TraceState>) => void;
  readonly onReplace: (change: Partial<TraceState>) => void;
}

const Body = (props: PanelProps & { readonly profile: Profile }): JSX.Element => {
  const { profile, state, onPush, onReplace } = props;
  const find = (text: string): void => onReplace({ find: text });
  const note = fewSamplesNote(profile);
  return (
    <>
      <p class="provenance" data-testid="provenance" data-tier={profile.tier}>
        {provenanceSentence(profile)}
        {note === '' ? null : <span class="warn-text"> {note}</span>}
      </p>
      {state.view === 'table' ? null : (
        <FlameGraphView
          profile={profile}
          upward={state.view === 'flame'}
          zoomKey={state.zoom}
          find={state.find}
          onZoom={(zoom) => onPush({ zoom })}
          onFind={find}
        />
      )}
      {profile.top.length === 0 ? null : (
        <TopTable profile={profile} find={state.find} onFind={find} />
      )}
    </>
  );
};

const Pooled = (props: PanelProps & { readonly query: string; readonly type: string }) => {
  const request = pooledFlame(props.query, props.type);
  const loaded = pooledProfiles.get(request).value;
  if (loaded.error !== undefined) {
    return (
      <ErrorNotice
        what="The pooled profile could not be read"
        error={loaded.error}
        onRetry={() => pooledProfiles.reload(request)}
      />
    );
  }
  if (loaded.value === undefined) return <Skeleton rows={8} label="Loading the pooled profile" />;
  if (loaded.value.samples === 0) {
    return <Notice kind="empty" title="No samples in any span of this operation" />;
  }
  return <Body {...props} profile={loaded.value} />;
};

/** TraceQL of all spans of the operation, for a server that names no query. */
const operationQuery = ({ service, name }: Explanation): string =>
  `{ resource.service.name = ${JSON.stringify(service)} && name = ${JSON.stringify(name)} }`;

const kDefaultType = 'process_cpu:cpu:nanoseconds:cpu:nanoseconds';

export const ProfilePanel = (props: PanelProps): JSX.Element | null => {
  const { explanation, state, onPush } = props;
  const { profiles, pooled } = explanation;
  const withSamples = profiles.filter((profile) => profile.samples > 0);
  const shown = withSamples.find((profile) => profile.type === state.type) ?? withSamples[0];
  const scopes: readonly Option<Scope>[] = [
    { value: 'self', label: 'This span' },
    { value: 'with_children', label: '+ children', title: 'This span and its descendants' },
    ...(pooled === undefined
      ? []
      : [
          {
            value: 'operation' as const,
            label: `All ${plural(pooled.spans, 'span')}`,
            title: `Pooled over the operation: ${plural(pooled.samples, 'sample')}`,
          },
        ]),
  ];
  const scope = state.mode === 'operation' && pooled === undefined ? 'self' : state.mode;
  return (
    <section class="profile" aria-label="Code">
      <div class="profile-bar">
        {withSamples.length > 1 ? (
          <Segmented
            legend="Profile type"
            options={withSamples.map((profile) => ({
              value: profile.type,
              label: typeWords(profile.type).label,
              title: profile.type,
            }))}
            value={shown?.type}
            onChange={(type) => onPush({ type, zoom: '' })}
          />
        ) : (
          <h3>{shown === undefined ? 'Code' : `${typeWords(shown.type).label} code`}</h3>
        )}
        <Segmented
          legend="Samples of"
          options={scopes}
          value={scope}
          onChange={(mode) => onPush({ mode, zoom: '' })}
        />
        <Segmented
          legend="View"
          options={kViews}
          value={state.view}
          onChange={(view) => onPush({ view })}
        />
      </div>
      {scope === 'operation' && pooled !== undefined ? (
        <Pooled
          {...props}
          query={pooled.query === '' ? operationQuery(explanation) : pooled.query}
          type={shown?.type ?? (state.type || kDefaultType)}
        />
      ) : shown !== undefined ? (
        <Body {...props} profile={shown} />
      ) : (
        <Notice kind="empty" title="No samples for this span">
          <p>
            {explanation.missing.length > 0
              ? 'The reasons stand above.'
              : 'The server names no reason: no profile type has samples of this span.'}
          </p>
          {pooled === undefined || pooled.samples === 0 ? null : (
            <button type="button" class="button" onClick={() => onPush({ mode: 'operation' })}>
              {`Show the pooled profile of ${plural(pooled.spans, 'span')} (${plural(pooled.samples, 'sample')})`}
            </button>
          )}
        </Notice>
      )}
    </section>
  );
};
