// Everything the detail bar says about one frame.
import type { Profile } from '../../model/explanation';
import { wilson } from '../stats/wilson';
import { type FlameGraph, nameOf } from './graph';

export interface NodeFacts {
  readonly name: string;
  readonly self: number;
  readonly total: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
  readonly samples: number;
  readonly file: string;
  readonly line: number;
}

/**
 * The server gives intervals per function; they hold for a frame that is the function's only one.
 * For other frames the interval is computed here from the number of samples.
 */
export const factsOf = (profile: Profile, graph: FlameGraph, node: number): NodeFacts => {
  const name = nameOf(graph, node);
  const total = graph.value[node] ?? 0;
  const self = graph.self[node] ?? 0;
  const share = graph.total > 0 ? total / graph.total : 0;
  const top = profile.top.find((entry) => entry.function === name);
  const whole = top !== undefined && top.total === total;
  const samples = whole ? top.samples : Math.round(share * profile.samples);
  const interval = whole
    ? { low: top.shareLow, high: top.shareHigh }
    : wilson(share * profile.samples, profile.samples);
  return {
    name,
    self,
    total,
    share,
    low: graph.parent[node] === -1 ? share : interval.low,
    high: graph.parent[node] === -1 ? share : interval.high,
    samples,
    file: top?.file ?? '',
    line: top?.line ?? 0,
  };
};

/** `rules.cc:112`, with the folders dropped when asked. */
export const placeOf = (file: string, line: number, short = true): string => {
  if (file === '') return '';
  const name = short ? file.slice(file.lastIndexOf('/') + 1) : file;
  return line > 0 ? `${name}:${line}` : name;
};
