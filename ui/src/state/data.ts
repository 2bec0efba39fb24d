// The answers the pages share. Traces do not change once they are complete, lists do.
import type { Explanation, Profile } from '../model/explanation';
import type { Service, Trace, TraceList } from '../model/trace';
import { Cache } from './resource';

const kListAgeMs = 30_000;
const kTraceAgeMs = 10 * 60_000;

export const traceLists = new Cache<TraceList>(kListAgeMs);
export const serviceLists = new Cache<readonly Service[]>(kListAgeMs);
export const traceCache = new Cache<Trace>(kTraceAgeMs);
export const explanations = new Cache<Explanation>(kTraceAgeMs);
export const pooledProfiles = new Cache<Profile>(kTraceAgeMs);
