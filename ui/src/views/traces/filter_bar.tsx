// What to look at: time range, service, TraceQL, least duration, order.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { parseDuration } from '../../base/time';
import type { Service } from '../../model/trace';
import type { Order, TracesState } from '../../state/url';
import { Icon } from '../../widgets/icons';
import { Segmented } from '../../widgets/segmented';

export const kRanges: readonly { readonly value: string; readonly label: string }[] = [
  { value: 'now-15m', label: '15 m' },
  { value: 'now-1h', label: '1 h' },
  { value: 'now-6h', label: '6 h' },
  { value: 'now-24h', label: '24 h' },
  { value: 'now-7d', label: '7 d' },
];

interface FilterBarProps {
  readonly state: TracesState;
  readonly services: readonly Service[];
  readonly filterError: string;
  readonly loading: boolean;
  readonly onChange: (state: TracesState) => void;
  readonly onReload: () => void;
}

export const FilterBar = (props: FilterBarProps): JSX.Element => {
  const { state, services, onChange } = props;
  const filter = useSignal(state.filter);
  const least = useSignal(state.minDuration);
  useEffect(() => {
    filter.value = state.filter;
    least.value = state.minDuration;
  }, [state.filter, state.minDuration, filter, least]);
  const leastWrong = least.value.trim() !== '' && parseDuration(least.value) === undefined;
  const run = (): void => {
    if (leastWrong) return;
    const next = { ...state, filter: filter.value.trim(), minDuration: least.value.trim() };
    if (next.filter === state.filter && next.minDuration === state.minDuration) props.onReload();
    else onChange(next);
  };
  const names = services.map((service) => service.service);
  if (state.service !== '' && !names.includes(state.service)) names.push(state.service);
  return (
    <form
      class="filters"
      aria-label="Which traces"
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      <Segmented
        legend="Time range"
        options={kRanges.map((range) => ({ ...range, title: `Last ${range.label}` }))}
        value={state.range.to === 'now' ? state.range.from : undefined}
        onChange={(from) => onChange({ ...state, range: { from, to: 'now' } })}
      />
      <label class="field">
        <span>Service</span>
        <select
          class="input"
          value={state.service}
          onChange={(event) => onChange({ ...state, service: event.currentTarget.value })}
        >
          <option value="">all</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="field grow">
        <span>TraceQL</span>
        <input
          class="input mono"
          type="text"
          data-page-find
          placeholder={'{ name = "order.calculate_totals" && duration > 500ms }'}
          spellcheck={false}
          autocomplete="off"
          aria-invalid={props.filterError !== ''}
          aria-describedby={props.filterError === '' ? undefined : 'filter-error'}
          value={filter.value}
          onInput={(event) => {
            filter.value = event.currentTarget.value;
          }}
        />
      </label>
      <label class="field">
        <span>At least</span>
        <input
          class="input short mono"
          type="text"
          placeholder="500ms"
          spellcheck={false}
          autocomplete="off"
          aria-invalid={leastWrong}
          value={least.value}
          onInput={(event) => {
            least.value = event.currentTarget.value;
          }}
        />
      </label>
      <label class="field">
        <span>Order</span>
        <select
          class="input"
          value={state.order}
          onChange={(event) => {
            const order: Order = event.currentTarget.value === 'newest' ? 'newest' : 'longest';
            onChange({ ...state, order });
          }}
        >
          <option value="longest">slowest first</option>
          <option value="newest">newest first</option>
        </select>
      </label>
      <button type="submit" class="button primary" disabled={leastWrong}>
        <Icon name="reload" />
        <span>{props.loading ? 'Running…' : 'Run'}</span>
      </button>
      {props.filterError === '' ? null : (
        <p id="filter-error" class="field-error" role="alert">
          {props.filterError}
        </p>
      )}
      {leastWrong ? (
        <p class="field-error" role="alert">
          A duration reads like 500ms, 1.5s or 2m
        </p>
      ) : null}
    </form>
  );
};
