// What a colleague must see is in the URL. One table of codecs says how each part reads and prints;
// defaults are not written, unknown keys survive, a value that does not parse becomes the default.
import { type SpanId, spanId } from '../base/brand';
import { parseDuration, parseRange, printRange, type TimeRange } from '../base/time';

export interface Codec<T> {
  readonly key: string;
  readonly initial: T;
  readonly parse: (text: string) => T | undefined;
  readonly print: (value: T) => string;
}

const choice = <T extends string>(key: string, initial: T, options: readonly T[]): Codec<T> => ({
  key,
  initial,
  parse: (text) => options.find((option) => option === text),
  print: (value) => value,
});

const text = (key: string, limit = 2000): Codec<string> => ({
  key,
  initial: '',
  parse: (value) => value.slice(0, limit),
  print: (value) => value,
});

export type Scope = 'self' | 'with_children' | 'operation';
export const kScopes: readonly Scope[] = ['self', 'with_children', 'operation'];

export type FlameView = 'icicle' | 'flame' | 'table';
export const kFlameViews: readonly FlameView[] = ['icicle', 'flame', 'table'];

export type Order = 'longest' | 'newest';
export const kOrders: readonly Order[] = ['longest', 'newest'];

export type Tier = 'auto' | 'span' | 'local_root' | 'service';
export const kTiers: readonly Tier[] = ['auto', 'span', 'local_root', 'service'];

export const codecs = {
  range: {
    key: 't',
    initial: { from: 'now-1h', to: 'now' },
    parse: parseRange,
    print: printRange,
  } satisfies Codec<TimeRange>,
  service: text('service', 200),
  filter: text('q'),
  minDuration: {
    key: 'min',
    initial: '',
    parse: (value) => (parseDuration(value) === undefined ? undefined : value.trim()),
    print: (value) => value,
  } satisfies Codec<string>,
  order: choice<Order>('order', 'longest', kOrders),
  span: {
    key: 'span',
    initial: undefined,
    parse: (value: string): SpanId | undefined => spanId(value),
    print: (value: SpanId | undefined): string => value ?? '',
  } satisfies Codec<SpanId | undefined>,
  type: text('type', 200),
  mode: choice<Scope>('mode', 'self', kScopes),
  view: choice<FlameView>('view', 'icicle', kFlameViews),
  tier: choice<Tier>('tier', 'auto', kTiers),
  zoom: {
    key: 'zoom',
    initial: '',
    parse: (value) => (/^[0-9a-z]{1,7}$/.test(value) ? value : undefined),
    print: (value) => value,
  } satisfies Codec<string>,
  find: text('find', 500),
};

const read = <T>(codec: Codec<T>, params: URLSearchParams): T => {
  const value = params.get(codec.key);
  return value === null ? codec.initial : (codec.parse(value) ?? codec.initial);
};

const write = <T>(codec: Codec<T>, value: T, params: URLSearchParams): void => {
  const printed = codec.print(value);
  if (printed === '' || printed === codec.print(codec.initial)) params.delete(codec.key);
  else params.set(codec.key, printed);
};

export interface TracesState {
  readonly range: TimeRange;
  readonly service: string;
  readonly filter: string;
  readonly minDuration: string;
  readonly order: Order;
}

export const parseTraces = (search: string): TracesState => {
  const params = new URLSearchParams(search);
  return {
    range: read(codecs.range, params),
    service: read(codecs.service, params),
    filter: read(codecs.filter, params),
    minDuration: read(codecs.minDuration, params),
    order: read(codecs.order, params),
  };
};

const searchOf = (params: URLSearchParams): string => {
  const printed = params.toString();
  return printed === '' ? '' : `?${printed}`;
};

/** The query text of a state; `search` gives the unknown keys to keep. */
export const printTraces = (state: TracesState, search = ''): string => {
  const params = new URLSearchParams(search);
  write(codecs.range, state.range, params);
  write(codecs.service, state.service, params);
  write(codecs.filter, state.filter, params);
  write(codecs.minDuration, state.minDuration, params);
  write(codecs.order, state.order, params);
  return searchOf(params);
};

export interface TraceState {
  readonly span: SpanId | undefined;
  readonly type: string;
  readonly mode: Scope;
  readonly view: FlameView;
  readonly tier: Tier;
  readonly zoom: string;
  readonly find: string;
}

export const parseTrace = (search: string): TraceState => {
  const params = new URLSearchParams(search);
  return {
    span: read(codecs.span, params),
    type: read(codecs.type, params),
    mode: read(codecs.mode, params),
    view: read(codecs.view, params),
    tier: read(codecs.tier, params),
    zoom: read(codecs.zoom, params),
    find: read(codecs.find, params),
  };
};

export const printTrace = (state: TraceState, search = ''): string => {
  const params = new URLSearchParams(search);
  write(codecs.span, state.span, params);
  write(codecs.type, state.type, params);
  write(codecs.mode, state.mode, params);
  write(codecs.view, state.view, params);
  write(codecs.tier, state.tier, params);
  write(codecs.zoom, state.zoom, params);
  write(codecs.find, state.find, params);
  return searchOf(params);
};

export type Page =
  | { readonly name: 'traces' }
  | { readonly name: 'trace'; readonly id: string }
  | { readonly name: 'unknown' };

export const parsePath = (path: string): Page => {
  const clean = path.replace(/\/+$/, '');
  if (clean === '' || clean === '/traces') return { name: 'traces' };
  const match = /^\/trace\/([0-9a-fA-F]{1,32})$/.exec(clean);
  if (match?.[1] !== undefined) return { name: 'trace', id: match[1].toLowerCase() };
  return { name: 'unknown' };
};

export const tracePath = (id: string, span?: string): string =>
  span === undefined ? `/trace/${id}` : `/trace/${id}?span=${span}`;

/** A trace id, a W3C traceparent, or a link to a trace: the path it stands for. */
export const pathOfPasted = (input: string): string | undefined => {
  const trimmed = input.trim();
  const parent = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/i.exec(trimmed);
  if (parent?.[1] !== undefined)
    return tracePath(parent[1].toLowerCase(), parent[2]?.toLowerCase());
  if (/^[0-9a-f]{32}$/i.test(trimmed)) return tracePath(trimmed.toLowerCase());
  const link = /\/trace\/([0-9a-f]{1,32})(\?[^#\s]*)?$/i.exec(trimmed);
  if (link?.[1] !== undefined) return `/trace/${link[1].toLowerCase()}${link[2] ?? ''}`;
  return undefined;
};
