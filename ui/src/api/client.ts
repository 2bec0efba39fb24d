// The only place that talks to the server.
import { fail, ok, type Result } from '../base/result';
import type { Explanation, Profile } from '../model/explanation';
import type { Service, Trace, TraceList } from '../model/trace';
import {
  decodeExplanation,
  decodeProfile,
  decodeServices,
  decodeTrace,
  decodeTraceList,
} from './decoders';
import { Reader } from './reader';

export interface ApiError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly field: string;
}

export type ApiResult<T> = Result<T, ApiError>;

const kBase = '/api/hotspan/v1';

export type Params = Readonly<Record<string, string | undefined>>;

/** Address with the parameters that have a value, in the order given. */
export const address = (path: string, params: Params): string => {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value !== undefined && value !== '') query.append(key, value);
  }
  const text = query.toString();
  const url = path.startsWith('/api/') ? path : `${kBase}${path}`;
  if (text === '') return url;
  return `${url}${url.includes('?') ? '&' : '?'}${text}`;
};

const readError = async (response: Response): Promise<ApiError> => {
  let body: unknown;
  try {
    body = await response.json();
  } catch {
    body = undefined;
  }
  const error = new Reader(body).object('error');
  return {
    status: response.status,
    code: error.text('code') || String(response.status),
    message: error.text('message') || response.statusText || 'the server gave no reason',
    field: error.text('field'),
  };
};

const get = async <T>(
  url: string,
  decode: (body: Reader) => T | undefined,
  signal: AbortSignal,
): Promise<ApiResult<T>> => {
  try {
    const response = await fetch(url, { signal, headers: { accept: 'application/json' } });
    if (!response.ok) return fail(await readError(response));
    const value = decode(new Reader(await response.json()));
    if (value !== undefined) return ok(value);
    return fail({
      status: response.status,
      code: 'bad_answer',
      message: 'the answer has not the expected form; page and server may be of different versions',
      field: '',
    });
  } catch (error) {
    return fail({
      status: 0,
      code: 'unreachable',
      message: error instanceof Error ? error.message : 'no connection',
      field: '',
    });
  }
};

export type Load<T> = (signal: AbortSignal) => Promise<ApiResult<T>>;

/** A request: its address is its identity in the cache. */
export interface Request<T> {
  readonly key: string;
  readonly load: Load<T>;
}

const request = <T>(url: string, decode: (body: Reader) => T | undefined): Request<T> => ({
  key: url,
  load: (signal) => get(url, decode, signal),
});

export const services = (range: Params): Request<readonly Service[]> =>
  request(address('/services', range), decodeServices);

export const traces = (params: Params): Request<TraceList> =>
  request(address('/traces', params), decodeTraceList);

export const trace = (id: string): Request<Trace> =>
  request(address(`/traces/${encodeURIComponent(id)}`, {}), decodeTrace);

export const explanation = (params: Params): Request<Explanation> =>
  request(address('/explain', params), decodeExplanation);

/** Pooled profile: `query` is a path of this API or a TraceQL filter. */
export const pooledFlame = (query: string, type: string): Request<Profile> => {
  const path = query.startsWith('/api/') ? query : '/flame';
  const known = new URLSearchParams(path.split('?')[1] ?? '');
  return request(
    address(path, {
      ...(path === query ? {} : { spans: query }),
      ...(known.has('type') ? {} : { type }),
      ...(known.has('format') ? {} : { format: 'json' }),
    }),
    decodeProfile,
  );
};
