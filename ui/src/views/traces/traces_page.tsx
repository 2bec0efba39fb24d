// Slow traces of a time range, and the reason when there are none.
import type { JSX } from 'preact';
import { services as servicesRequest, traces as tracesRequest } from '../../api/client';
import { formatCount, plural } from '../../base/format';
import { formatAge, resolvePoint } from '../../base/time';
import type { TraceList as List, Service } from '../../model/trace';
import { serviceLists, traceLists } from '../../state/data';
import type { Loaded } from '../../state/resource';
import * as route from '../../state/route';
import { parseTraces, printTraces, type TracesState } from '../../state/url';
import { Notice, Skeleton } from '../../widgets/notice';
import { ErrorNotice } from '../shell/error_notice';
import { FilterBar } from './filter_bar';
import { Onboarding } from './onboarding';
import { ServicesStrip } from './services_strip';
import { TraceList } from './trace_list';

const kLimit = 100;

/** The API knows hours, so days become hours. */
const apiPoint = (point: string): string => {
  const days = /^now-(\d+)d$/.exec(point);
  return days?.[1] === undefined ? point : `now-${Number(days[1]) * 24}h`;
};

const apiRange = (state: TracesState) => ({
  start: apiPoint(state.range.from),
  end: apiPoint(state.range.to),
});

const change = (state: TracesState): void => {
  route.push(`/traces${printTraces(state, route.search.peek())}`);
};

const narrowed = (state: TracesState): boolean =>
  state.service !== '' || state.filter !== '' || state.minDuration !== '';

interface EmptyProps {
  readonly state: TracesState;
  readonly inRange: readonly Service[];
}

const lastSeen = (services: readonly Service[]): bigint | undefined =>
  services.reduce<bigint | undefined>(
    (latest, service) =>
      service.lastNs !== undefined && (latest === undefined || service.lastNs > latest)
        ? service.lastNs
        : latest,
    undefined,
  );

/** Nothing matched: by the filter, by the range, or because nothing was ever received. */
const Empty = ({ state, inRange }: EmptyProps): JSX.Element => {
  const request = servicesRequest({ start: 'now-168h', end: 'now' });
  const week = serviceLists.get(request).value;
  const wide: TracesState = { ...state, range: { from: 'now-7d', to: 'now' } };
  if (inRange.length > 0 && narrowed(state)) {
    return (
      <Notice kind="empty" title="No trace matches">
        <p>
          {plural(inRange.length, 'service')} sent{' '}
          {plural(
            inRange.reduce((sum, service) => sum + service.spans, 0),
            'span',
          )}{' '}
          in this range, but none of their traces fits service, TraceQL and least duration together.
        </p>
        <p class="actions">
          <button
            type="button"
            class="button"
            onClick={() => change({ ...state, service: '', filter: '', minDuration: '' })}
          >
            Clear the filters
          </button>
          <button type="button" class="button" onClick={() => change(wide)}>
            Look at the last 7 days
          </button>
        </p>
      </Notice>
    );
  }
  if (week.loading && week.value === undefined)
    return <Skeleton rows={4} label="Looking further" />;
  const seen = lastSeen(week.value ?? []);
  if (week.error === undefined && (week.value ?? []).length === 0) {
    return <Onboarding onReload={() => serviceLists.reload(request)} />;
  }
  return (
    <Notice kind="empty" title="No traces in this time range">
      <p>
        {seen === undefined
          ? 'There may be older ones.'
          : `The last span came ${formatAge(seen, Date.now())}, from ${plural((week.value ?? []).length, 'service')} seen in 7 days.`}
      </p>
      <p class="actions">
        <button type="button" class="button" onClick={() => change(wide)}>
          Look at the last 7 days
        </button>
      </p>
    </Notice>
  );
};

interface ResultsProps {
  readonly state: TracesState;
  readonly list: Loaded<List>;
  readonly services: Loaded<readonly Service[]>;
  readonly onRetry: () => void;
}

const Results = ({ state, list, services, onRetry }: ResultsProps): JSX.Element => {
  if (list.error !== undefined && list.error.field !== 'filter') {
    return <ErrorNotice what="The traces could not be read" error={list.error} onRetry={onRetry} />;
  }
  if (list.value === undefined) {
    return list.loading ? <Skeleton rows={10} label="Loading traces" /> : <div />;
  }
  if (list.value.traces.length === 0) {
    if (services.loading && services.value === undefined) {
      return <Skeleton rows={4} label="Loading services" />;
    }
    return <Empty state={state} inRange={services.value ?? []} />;
  }
  const { traces, inspected, truncated } = list.value;
  return (
    <>
      {truncated ? (
        <Notice kind="partial" title="Not everything was searched">
          <p>
            The search stopped after {formatCount(inspected)} spans. A shorter range or a narrower
            filter gives the whole answer.
          </p>
        </Notice>
      ) : null}
      <TraceList traces={traces} />
      <p class="muted small foot">
        {plural(traces.length, 'trace')}
        {traces.length >= kLimit ? ` (the first ${kLimit})` : ''}
        {inspected > 0 ? ` · ${formatCount(inspected)} rows inspected` : ''}
      </p>
    </>
  );
};

export const TracesPage = (): JSX.Element => {
  const state = parseTraces(route.search.value);
  document.title = 'Slow traces · Hotspan';
  const range = apiRange(state);
  const request = tracesRequest({
    service: state.service,
    filter: state.filter,
    min_duration: /^\d+(\.\d+)?$/.test(state.minDuration)
      ? `${state.minDuration}ms`
      : state.minDuration.replaceAll(' ', ''),
    ...range,
    order: state.order,
    limit: String(kLimit),
  });
  const ofServices = servicesRequest(range);
  const list = traceLists.get(request).value;
  const services = serviceLists.get(ofServices).value;
  const reload = (): void => {
    traceLists.reload(request);
    serviceLists.reload(ofServices);
  };
  const from = resolvePoint(state.range.from, Date.now());
  const custom = state.range.to !== 'now' || from === undefined;
  return (
    <>
      <div class="page-head">
        <h1>Slow traces</h1>
        {custom ? (
          <span class="muted small">fixed time range from the link</span>
        ) : (
          <span class="muted small">
            each opens at the span that held it up, with the code in it
          </span>
        )}
      </div>
      <FilterBar
        state={state}
        services={services.value ?? []}
        filterError={list.error?.field === 'filter' ? list.error.message : ''}
        loading={list.loading}
        onChange={change}
        onReload={reload}
      />
      {services.value !== undefined && services.value.length > 0 ? (
        <ServicesStrip
          services={services.value}
          chosen={state.service}
          onChoose={(service) => change({ ...state, service })}
        />
      ) : null}
      <Results state={state} list={list} services={services} onRetry={reload} />
    </>
  );
};
