// The explanation of one span: its time by class, the code in it, where the numbers come from.

export interface Flamebearer {
  readonly names: readonly string[];
  /** Per level: quadruples (offset from the bar before, total, self, index into names). */
  readonly levels: readonly (readonly number[])[];
  readonly total: number;
}

export interface TopLine {
  readonly line: number;
  readonly self: number;
  readonly total: number;
}

export interface TopFunction {
  readonly function: string;
  readonly file: string;
  readonly line: number;
  readonly self: number;
  readonly total: number;
  readonly share: number;
  readonly shareLow: number;
  readonly shareHigh: number;
  readonly samples: number;
  readonly lines: readonly TopLine[];
}

export type Mode = 'self' | 'with_children';

export interface Window {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

export interface Profile {
  readonly type: string;
  readonly tier: string;
  readonly mode: string;
  readonly samples: number;
  readonly periodNs: number;
  readonly total: number;
  readonly window: Window | undefined;
  readonly agents: readonly string[];
  readonly note: string;
  /** Number of spans behind a pooled profile; 1 for the profile of a span. */
  readonly spans: number;
  readonly flame: Flamebearer;
  readonly top: readonly TopFunction[];
}

export interface LedgerClass {
  readonly name: string;
  readonly ns: number;
  readonly lowNs: number;
  readonly highNs: number;
  readonly source: string;
  readonly samples: number;
  readonly hint: string;
}

export interface Ledger {
  readonly durationNs: number;
  readonly cpuNs: number;
  readonly parallelNs: number;
  readonly classes: readonly LedgerClass[];
}

export interface Baseline {
  readonly p50Ns: number;
  readonly p95Ns: number;
  readonly n: number;
  readonly ratio: number;
}

export interface Missing {
  readonly type: string;
  readonly reason: string;
  readonly detail: string;
  readonly fix: string;
  readonly beforeNs: bigint | undefined;
  readonly afterNs: bigint | undefined;
}

export interface Evidence {
  readonly text: string;
  readonly query: string;
}

export interface Finding {
  readonly kind: string;
  readonly title: string;
  readonly severity: string;
  readonly savesNs: number;
  readonly savesLowNs: number;
  readonly savesHighNs: number;
  readonly function: string;
  readonly file: string;
  readonly line: number;
  readonly service: string;
  readonly fix: string;
  readonly pooled: boolean;
  readonly evidence: readonly Evidence[];
}

export interface Pooled {
  readonly spans: number;
  readonly samples: number;
  readonly query: string;
}

export interface Explanation {
  readonly service: string;
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly durationNs: number;
  readonly baseline: Baseline | undefined;
  readonly ledger: Ledger | undefined;
  readonly profiles: readonly Profile[];
  readonly pooled: Pooled | undefined;
  readonly missing: readonly Missing[];
  readonly findings: readonly Finding[];
}
