// Branded ids: strings that were checked once, so that a span id can't be passed as a trace id.

declare const brand: unique symbol;
export type Brand<T, B extends string> = T & { readonly [brand]: B };

export type TraceId = Brand<string, 'TraceId'>;
export type SpanId = Brand<string, 'SpanId'>;

// An id of zeros stands for none, as in W3C trace context.
const isZero = (text: string): boolean => /^0+$/.test(text);

export const traceId = (text: string): TraceId | undefined =>
  /^[0-9a-f]{1,32}$/i.test(text) && !isZero(text) ? (text.toLowerCase() as TraceId) : undefined;

export const spanId = (text: string): SpanId | undefined =>
  /^[0-9a-f]{1,16}$/i.test(text) && !isZero(text) ? (text.toLowerCase() as SpanId) : undefined;
