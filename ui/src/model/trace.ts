// A trace as the API gives it: spans in the order of the waterfall, durations in nanoseconds.
import type { SpanId, TraceId } from '../base/brand';

export type Attributes = ReadonlyMap<string, string>;

export interface SpanEvent {
  readonly name: string;
  readonly offsetNs: number;
  readonly attributes: Attributes;
}

export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: Attributes;
}

export interface Span {
  readonly id: SpanId;
  readonly parentId: SpanId | undefined;
  readonly service: string;
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly statusMessage: string;
  readonly startNs: bigint;
  readonly offsetNs: number;
  readonly durationNs: number;
  readonly selfNs: number;
  readonly criticalNs: number;
  readonly depth: number;
  readonly attributes: Attributes;
  readonly resource: Attributes;
  readonly scope: string;
  readonly events: readonly SpanEvent[];
  readonly links: readonly SpanLink[];
  readonly samples: ReadonlyMap<string, number>;
}

export interface Trace {
  readonly id: TraceId;
  readonly startNs: bigint;
  readonly durationNs: number;
  readonly rootId: SpanId | undefined;
  readonly suggestedId: SpanId | undefined;
  readonly truncated: boolean;
  readonly services: readonly {
    readonly service: string;
    readonly spans: number;
    readonly selfNs: number;
  }[];
  readonly spans: readonly Span[];
}

export interface SpanRef {
  readonly id: SpanId;
  readonly service: string;
  readonly name: string;
  readonly durationNs: number;
  readonly selfNs: number;
}

export interface TraceSummary {
  readonly id: TraceId;
  readonly root: { readonly service: string; readonly name: string };
  readonly startNs: bigint;
  readonly durationNs: number;
  readonly spans: number;
  readonly errors: number;
  readonly services: readonly string[];
  readonly slowest: SpanRef | undefined;
  readonly matched: readonly SpanRef[];
}

export interface TraceList {
  readonly traces: readonly TraceSummary[];
  readonly inspected: number;
  readonly truncated: boolean;
}

export interface Service {
  readonly service: string;
  readonly spans: number;
  readonly errors: number;
  readonly rate: number;
  readonly lastNs: bigint | undefined;
  readonly profileTypes: readonly string[];
  readonly samples: number;
  readonly spanLinked: number;
}
