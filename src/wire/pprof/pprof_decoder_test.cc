#include "wire/pprof/pprof_decoder.h"

#include <gtest/gtest.h>

#include "wire/test_protobuf.h"

namespace hotspan::wire {
namespace {

enum : std::uint64_t {
  kEmpty,
  kSamples,
  kCount,
  kCpu,
  kNanos,
  kMain,
  kWork,
  kFile,
  kSpanKey,
  kSpanHex,
  kTraceKey,
  kTraceHex,
  kBuild,
  kThreadKey,
  kContentions,
  kDelay,
};

Pb Strings() {
  Pb strings;
  for (const char* text :
       {"", "samples", "count", "cpu", "nanoseconds", "main", "work", "main.cc", "span_id",
        "1112131415161718", "trace_id", "0102030405060708090a0b0c0d0e0f10", "abcd", "thread_id",
        "contentions", "delay"}) {
    strings.Text(6, text);
  }
  return strings;
}

Pb Tables() {
  return Strings()
      .Sub(3,
           Pb().Int(1, 1).Int(2, 0x1000).Int(3, 0x9000).Int(4, 0x200).Int(5, kFile).Int(6, kBuild))
      .Sub(5, Pb().Int(1, 1).Int(2, kMain).Int(4, kFile))
      .Sub(5, Pb().Int(1, 7).Int(2, kWork))
      .Sub(4, Pb().Int(1, 1).Int(2, 1).Int(3, 0x1010).Sub(4, Pb().Int(1, 1).Int(2, 12)))
      .Sub(4, Pb().Int(1, 500).Sub(4, Pb().Int(1, 7).Int(2, 3)).Sub(4, Pb().Int(1, 1).Int(2, 9)));
}

Pb GoCpu() {
  return Tables()
      .Sub(1, Pb().Int(1, kSamples).Int(2, kCount))
      .Sub(1, Pb().Int(1, kCpu).Int(2, kNanos))
      .Sub(11, Pb().Int(1, kCpu).Int(2, kNanos))
      .Int(12, 10'000'000)
      .Int(9, 1'700'000'000'000'000'000)
      .Int(10, 10'000'000'000);
}

PprofOptions Options() {
  PprofOptions options;
  options.source.service_name = "shop";
  AttributeWriter(options.source.resource_attributes).Add("service.name", Value::String("shop"));
  options.source.start = {5};
  options.source.duration = {6};
  return options;
}

ProfileDecode Decode(const Pb& profile, const PprofOptions& options = Options()) {
  auto decoded = DecodePprof(profile.text(), options);
  EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().message());
  if (!decoded) return {};
  EXPECT_EQ(FindDamage(decoded->batch), "");
  return std::move(*decoded);
}

TEST(PprofDecoder, ReadsAGoCpuProfile) {
  const ProfileDecode decoded =
      Decode(GoCpu().Sub(2, Pb().Packed(1, {500, 1})
                                .Packed(2, {3, 30'000'000})
                                .Sub(3, Pb().Int(1, kSpanKey).Int(2, kSpanHex))
                                .Sub(3, Pb().Int(1, kTraceKey).Int(2, kTraceHex))
                                .Sub(3, Pb().Int(1, kThreadKey).Int(3, 44))));
  const SampleBatch& batch = decoded.batch;
  ASSERT_EQ(batch.samples.size(), 2u);
  ASSERT_EQ(batch.series.size(), 2u);
  EXPECT_EQ(batch.Text(batch.series[0].type), "process_cpu:samples:count:cpu:nanoseconds");
  EXPECT_EQ(batch.Text(batch.series[1].type), "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  EXPECT_EQ(batch.series[1].period, 10'000'000);
  EXPECT_EQ(batch.series[1].start.ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(batch.series[1].duration.ns, 10'000'000'000);
  EXPECT_EQ(batch.Text(batch.resources[0].service_name), "shop");
  EXPECT_TRUE(decoded.has_time);
  EXPECT_FALSE(batch.timed);
  const SampleRow& cpu = batch.samples[1];
  EXPECT_EQ(cpu.value, 30'000'000);
  EXPECT_EQ(batch.links[cpu.link].span_id.ToHex(), "1112131415161718");
  EXPECT_EQ(batch.links[cpu.link].trace_id.ToHex(), "0102030405060708090a0b0c0d0e0f10");
  EXPECT_EQ(batch.Attributes(batch.label_sets[cpu.labels]).Find("thread.id")->AsInt(), 44);
  const StackRow& stack = batch.stacks[cpu.stack];
  ASSERT_EQ(stack.location_count, 2u);
  const LocationRow& leaf = batch.locations[batch.stack_locations[stack.first_location]];
  EXPECT_EQ(leaf.line_count, 2u);
  EXPECT_EQ(batch.Text(batch.functions[batch.lines[leaf.first_line].function].name), "work");
  const LocationRow& root = batch.locations[batch.stack_locations[stack.first_location + 1]];
  EXPECT_EQ(root.address, 0x210u);
  EXPECT_EQ(batch.Text(batch.mappings[root.mapping].build_id), "abcd");
}

TEST(PprofDecoder, TurnsLoneCpuCountsIntoTime) {
  const ProfileDecode decoded = Decode(Tables()
                                           .Sub(1, Pb().Int(1, kSamples).Int(2, kCount))
                                           .Sub(11, Pb().Int(1, kCpu).Int(2, kNanos))
                                           .Int(12, 100)
                                           .Sub(2, Pb().Int(1, 1).Int(2, 3)));
  EXPECT_EQ(decoded.batch.Text(decoded.batch.series.at(0).type),
            "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  EXPECT_EQ(decoded.batch.samples.at(0).value, 300);
}

TEST(PprofDecoder, TakesTimeFromTheSourceWhereItHasNone) {
  const ProfileDecode decoded =
      Decode(Tables().Sub(1, Pb().Int(1, kDelay).Int(2, kNanos)).Sub(2, Pb().Int(1, 1).Int(2, 3)));
  EXPECT_EQ(decoded.batch.series.at(0).start.ns, 5);
  EXPECT_EQ(decoded.batch.series.at(0).duration.ns, 6);
  EXPECT_EQ(decoded.batch.samples.at(0).time.ns, 5);
  EXPECT_FALSE(decoded.has_time);
}

TEST(PprofDecoder, NamesContentionsAsTold) {
  PprofOptions options = Options();
  options.contention_name = "block";
  const ProfileDecode decoded = Decode(Tables()
                                           .Sub(1, Pb().Int(1, kDelay).Int(2, kNanos))
                                           .Sub(11, Pb().Int(1, kContentions).Int(2, kCount))
                                           .Sub(2, Pb().Int(1, 1).Int(2, 3)),
                                       options);
  EXPECT_EQ(decoded.batch.Text(decoded.batch.series.at(0).type),
            "block:delay:nanoseconds:contentions:count");
}

void ExpectRefused(const Pb& profile, std::string_view reason) {
  const auto decoded = DecodePprof(profile.text(), Options());
  ASSERT_FALSE(decoded) << reason;
  EXPECT_EQ(decoded.error().code(), Code::kInvalidArgument);
  EXPECT_NE(decoded.error().message().find(reason), std::string::npos) << decoded.error().message();
}

TEST(PprofDecoder, RefusesStringIndexOutOfTable) {
  ExpectRefused(GoCpu().Sub(5, Pb().Int(1, 9).Int(2, 999)), "string index 999 of a function");
  ExpectRefused(GoCpu().Sub(5, Pb().Int(1, 9).Signed(2, -1)), "string index -1 of a function");
  ExpectRefused(GoCpu().Sub(3, Pb().Int(1, 9).Int(5, 999)), "of a mapping");
  ExpectRefused(Tables().Sub(1, Pb().Int(1, 999)), "of a sample type");
  ExpectRefused(GoCpu().Sub(2, Pb().Int(1, 1).Packed(2, {1, 1}).Sub(3, Pb().Int(1, 999))),
                "of a label");
}

TEST(PprofDecoder, RefusesIdsThatAreNotThere) {
  ExpectRefused(GoCpu().Sub(2, Pb().Int(1, 77).Packed(2, {1, 1})), "location 77");
  ExpectRefused(GoCpu().Sub(2, Pb().Int(1, 0).Packed(2, {1, 1})), "location 0");
  ExpectRefused(GoCpu().Sub(4, Pb().Int(1, 9).Int(2, 88)), "mapping 88");
  ExpectRefused(GoCpu().Sub(4, Pb().Int(1, 9).Sub(4, Pb().Int(1, 66))), "function 66");
  ExpectRefused(GoCpu().Sub(4, Pb()), "location has the id 0");
}

TEST(PprofDecoder, RefusesWrongCountsOfValues) {
  ExpectRefused(GoCpu().Sub(2, Pb().Int(1, 1).Int(2, 1)), "1 values for 2 sample types");
}

TEST(PprofDecoder, RefusesBadStringTables) {
  ExpectRefused(Pb().Text(6, "x"), "does not begin with the empty string");
  ExpectRefused(Pb(), "no string table");
}

TEST(PprofDecoder, RefusesLegacyTextAndNoise) {
  ExpectRefused(Pb().Sub(2, Pb().Int(1, 1)).Text(6, ""), "no sample type");
  for (const std::string_view body :
       {"heap profile: 1: 2 [3: 4] @ heap/1048576", "--- contention:\n"}) {
    const auto decoded = DecodePprof(body, Options());
    ASSERT_FALSE(decoded);
    EXPECT_NE(decoded.error().message().find("legacy text"), std::string::npos);
  }
  EXPECT_FALSE(DecodePprof("hello world", Options()));
  EXPECT_FALSE(DecodePprof(std::string_view("\x1f\x8b\x08 broken", 10), Options()));
}

TEST(PprofDecoder, RefusesProductsThatOverflow) {
  ExpectRefused(Tables()
                    .Sub(1, Pb().Int(1, kSamples).Int(2, kCount))
                    .Sub(11, Pb().Int(1, kCpu).Int(2, kNanos))
                    .Int(12, INT64_MAX)
                    .Sub(2, Pb().Int(1, 1).Int(2, 3)),
                "more than 64 bits");
}

TEST(LooksLikePprof, TellsProfilesFromText) {
  EXPECT_TRUE(LooksLikePprof(GoCpu().text()));
  EXPECT_TRUE(LooksLikePprof("\x1f\x8b\x08..."));
  EXPECT_FALSE(LooksLikePprof("main;work 12\n"));
  EXPECT_FALSE(LooksLikePprof(""));
}

}  // namespace
}  // namespace hotspan::wire
