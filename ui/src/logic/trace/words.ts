// The sentences of an explanation: every number says what it is compared with and where it is from.
import { formatCount, formatDuration, formatTimes, plainDuration, plural } from '../../base/format';
import { formatClockRange } from '../../base/time';
import type { Baseline, Profile } from '../../model/explanation';

/** `600 ms, 12 times the usual 50 ms`. */
export const baselineSentence = (durationNs: number, baseline: Baseline | undefined): string => {
  const now = plainDuration(durationNs);
  if (baseline === undefined) return `${now}; no other spans of this operation to compare with`;
  const usual = plainDuration(baseline.p50Ns);
  const ratio = baseline.ratio > 0 ? baseline.ratio : durationNs / Math.max(1, baseline.p50Ns);
  if (ratio >= 1.15) return `${now}, ${formatTimes(ratio)} the usual ${usual}`;
  if (ratio <= 0.85) return `${now}, less than the usual ${usual}`;
  return `${now}, as usual (median ${usual})`;
};

export const baselineDetail = (baseline: Baseline | undefined): string =>
  baseline === undefined
    ? ''
    : `95 % take less than ${plainDuration(baseline.p95Ns)} · ${plural(baseline.n, 'span')} compared`;

const tierWords = (profile: Profile): string => {
  switch (profile.tier) {
    case 'span':
      return 'exact by span id';
    case 'local_root':
      return 'by the id of the local root span; may hold sibling spans of this request';
    case 'attached':
      return 'profile attached to this span; covers the whole process, contains other requests';
    case 'thread':
      return 'by thread and time';
    case 'process':
      return 'by process and time; contains other requests of this process';
    case 'service':
      return 'by time window of the service; contains other requests';
    default:
      return profile.tier === '' ? 'origin not stated' : `by ${profile.tier}`;
  }
};

/** `exact by span id · 56 samples, 10.3 ms each · libhotspan/0.1.0`. */
export const provenanceSentence = (profile: Profile): string => {
  const parts = [tierWords(profile)];
  if (profile.spans > 1) parts[0] = `pooled over ${plural(profile.spans, 'span')}, ${parts[0]}`;
  const period = profile.periodNs > 0 ? `, ${formatDuration(profile.periodNs)} each` : '';
  parts.push(`${plural(profile.samples, 'sample')}${period}`);
  if (profile.tier !== 'span' && profile.tier !== 'local_root' && profile.window !== undefined) {
    parts.push(formatClockRange(profile.window.startNs, profile.window.endNs));
  }
  if (profile.agents.length > 0) parts.push(profile.agents.join(', '));
  if (profile.note !== '') parts.push(profile.note);
  return parts.join(' · ');
};

/** Samples below which shares are too coarse to trust alone. */
export const kFewSamples = 20;

export const fewSamplesNote = (profile: Profile): string =>
  profile.samples > 0 && profile.samples < kFewSamples
    ? `Only ${formatCount(profile.samples)} samples: shares are coarse.`
    : '';

export interface TypeWords {
  readonly label: string;
  readonly unit: string;
}

const kTypes: readonly (readonly [RegExp, string])[] = [
  [/off_?cpu/, 'Off-CPU'],
  [/(process_cpu|on_?cpu|^cpu)/, 'On-CPU'],
  [/^wall/, 'Wall clock'],
  [/(mutex|lock|contention)/, 'Lock waits'],
  [/(alloc_space|alloc_bytes|alloc_size)/, 'Allocated bytes'],
  [/alloc/, 'Allocations'],
  [/inuse|heap/, 'Heap in use'],
  [/goroutine/, 'Goroutines'],
  [/block/, 'Blocking'],
];

/** Profile types read `name:sample:unit:period:unit`. */
export const typeWords = (type: string): TypeWords => {
  const parts = type.split(':');
  const name = `${parts[0] ?? ''}:${parts[1] ?? ''}`;
  const known = kTypes.find(([pattern]) => pattern.test(name));
  return { label: known?.[1] ?? (parts[0] || type), unit: parts[2] ?? 'count' };
};

const kReasons: Readonly<Record<string, string>> = {
  no_profiles: 'No profiles of this service',
  no_profiles_in_window: 'No profiles at that time',
  none_in_window: 'No profiles at that time',
  not_labelled: 'Profiles carry no span ids',
  unlabelled: 'Profiles carry no span ids',
  name_mismatch: 'A service of a nearly equal name has profiles',
  too_short: 'Shorter than the sampling period',
  no_work: 'The thread did no work',
  waited: 'The thread waited',
  retention: 'Removed by retention',
  agent_drops: 'The agent lost samples',
};

export const reasonTitle = (reason: string): string => {
  const known = kReasons[reason];
  if (known !== undefined) return known;
  const words = reason.replaceAll('_', ' ').trim();
  return words === '' ? 'No data' : words.charAt(0).toUpperCase() + words.slice(1);
};
