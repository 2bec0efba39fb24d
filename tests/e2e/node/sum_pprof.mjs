// Prints the sum of the first value by leaf function of a gzipped pprof file, read by pprof-format.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Profile } from "pprof-format";

const profile = Profile.decode(gunzipSync(readFileSync(process.argv[2])));
const text = profile.stringTable.strings;
const functions = new Map(profile.function.map((f) => [f.id, text[Number(f.name)]]));
const locations = new Map(profile.location.map((l) => [l.id, functions.get(l.line[0].functionId)]));
const sums = {};
for (const sample of profile.sample) {
  const leaf = locations.get(sample.locationId[0]);
  sums[leaf] = (sums[leaf] ?? 0) + Number(sample.value[0]);
}
console.log(JSON.stringify(sums));
