#include "wire/otlp/profile_decoder.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "wire/test_protobuf.h"

namespace hotspan::wire {
namespace {

const std::string kTrace("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10", 16);
const std::string kSpan("\x11\x12\x13\x14\x15\x16\x17\x18", 8);

// Strings of the dictionary by number.
enum : std::uint64_t {
  kEmpty,
  kSamples,
  kCount,
  kCpu,
  kNanos,
  kMain,
  kWork,
  kFile,
  kThreadId,
  kThreadName,
  kBuildKey,
  kLib,
  kOffCpu,
  kCtxSpan,
  kCtxTrace,
};

Pb Dictionary() {
  Pb d;
  for (const char* text :
       {"", "samples", "count", "cpu", "nanoseconds", "main", "work", "main.cc", "thread.id",
        "thread.name", "process.executable.build_id.gnu", "lib.so", "off_cpu",
        "process.context.label.span_id", "process.context.label.trace_id"}) {
    d.Text(5, text);
  }
  d.Sub(1, Pb()).Sub(
      1, Pb().Int(1, 0x10000).Int(2, 0x20000).Int(3, 0x1000).Int(4, kLib).Packed(5, {3}));
  d.Sub(3, Pb())
      .Sub(3, Pb().Int(1, kMain).Int(3, kFile).Int(4, 3))
      .Sub(3, Pb().Int(1, kWork).Int(3, kFile));
  // 1: work inlined into main; 2: main; 3: native.
  d.Sub(2, Pb()).Sub(2, Pb().Sub(3, Pb().Int(1, 2).Int(2, 8)).Sub(3, Pb().Int(1, 1).Int(2, 20)));
  d.Sub(2, Pb().Sub(3, Pb().Int(1, 1).Int(2, 21))).Sub(2, Pb().Int(1, 1).Int(2, 0x10040));
  d.Sub(7, Pb()).Sub(7, Pb().Packed(1, {1, 2})).Sub(7, Pb().Int(1, 3).Int(1, 2));
  d.Sub(4, Pb().Text(1, std::string(16, '\0')).Text(2, std::string(8, '\0')));
  d.Sub(4, Pb().Text(1, kTrace).Text(2, kSpan));
  d.Sub(6, Pb())
      .Sub(6, Pb().Int(1, kThreadId).Sub(2, AnyInt(77)))
      .Sub(6, Pb().Int(1, kThreadName).Sub(2, Pb().Int(8, kWork)))
      .Sub(6, Pb().Int(1, kBuildKey).Sub(2, AnyText("abcdef0123")))
      .Sub(6, Pb().Int(1, kCtxSpan).Sub(2, AnyText("1112131415161718")))
      .Sub(6, Pb().Int(1, kCtxTrace).Sub(2, AnyText("0102030405060708090a0b0c0d0e0f10")));
  return d;
}

Pb CpuProfile() {
  return Pb()
      .Sub(1, Pb().Int(1, kSamples).Int(2, kCount))
      .Fixed64(3, 1000)
      .Int(4, 500)
      .Sub(5, Pb().Int(1, kCpu).Int(2, kNanos))
      .Int(6, 10'000'000);
}

std::string Request(std::initializer_list<Pb> profiles, const Pb& dictionary = Dictionary()) {
  Pb scope = Pb().Sub(1, Pb().Text(1, "sampler").Text(2, "2"));
  for (const Pb& profile : profiles) scope.Sub(2, profile);
  return Pb()
      .Sub(1, Pb().Sub(1, Pb().Sub(1, KeyValue("service.name", AnyText("shop")))).Sub(2, scope))
      .Sub(2, dictionary)
      .text();
}

ProfileDecode Decode(std::string_view body) {
  auto decoded = DecodeProfiles(body, Encoding::kProtobuf, TimeNs{42});
  EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().message());
  if (!decoded) return {};
  EXPECT_EQ(FindDamage(decoded->batch), "");
  return std::move(*decoded);
}

TEST(ProfileDecoder, ReadsCpuSamplesWithTimes) {
  const Pb sample = Pb().Int(1, 1).Packed(2, {1, 2}).Int(3, 1).PackedFixed64(5, {1001, 1002});
  const ProfileDecode decoded = Decode(Request({CpuProfile().Sub(2, sample)}));
  const SampleBatch& batch = decoded.batch;
  EXPECT_EQ(decoded.layout, ProfileLayout::kOtlp10);
  EXPECT_EQ(decoded.profiles, 1u);
  EXPECT_TRUE(batch.timed);
  EXPECT_TRUE(decoded.has_time);
  ASSERT_EQ(batch.series.size(), 1u);
  const SeriesRow& series = batch.series[0];
  EXPECT_EQ(batch.Text(series.type), "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  EXPECT_EQ(series.period, 10'000'000);
  EXPECT_EQ(series.start.ns, 1000);
  EXPECT_EQ(series.duration.ns, 500);
  EXPECT_EQ(batch.Text(batch.resources[series.resource].service_name), "shop");
  EXPECT_EQ(batch.Attributes(series.attributes).FindText("otel.scope.name"), "sampler");
  ASSERT_EQ(batch.samples.size(), 2u);
  EXPECT_EQ(batch.samples[0].value, 10'000'000);
  EXPECT_EQ(batch.samples[0].time.ns, 1001);
  EXPECT_EQ(batch.samples[1].time.ns, 1002);
  const LinkRow& link = batch.links[batch.samples[0].link];
  EXPECT_EQ(link.trace_id.AsBytes(), kTrace);
  EXPECT_EQ(link.span_id.AsBytes(), kSpan);
  const AttributeList labels = batch.Attributes(batch.label_sets[batch.samples[0].labels]);
  EXPECT_EQ(labels.Find("thread.id")->AsInt(), 77);
  EXPECT_EQ(labels.FindText("thread.name"), "work");
  const StackRow& stack = batch.stacks[batch.samples[0].stack];
  ASSERT_EQ(stack.location_count, 2u);
  const LocationRow& leaf = batch.locations[batch.stack_locations[stack.first_location]];
  ASSERT_EQ(leaf.line_count, 2u);
  EXPECT_EQ(batch.lines[leaf.first_line].line, 8);
  EXPECT_EQ(batch.Text(batch.functions[batch.lines[leaf.first_line].function].name), "work");
  EXPECT_EQ(batch.Text(batch.functions[batch.lines[leaf.first_line + 1].function].name), "main");
}

TEST(ProfileDecoder, TurnsNativeAddressesIntoFileOffsets) {
  const ProfileDecode decoded =
      Decode(Request({CpuProfile().Sub(2, Pb().Int(1, 2).Fixed64(5, 1001))}));
  const SampleBatch& batch = decoded.batch;
  const StackRow& stack = batch.stacks[batch.samples.at(0).stack];
  const LocationRow& leaf = batch.locations[batch.stack_locations[stack.first_location]];
  EXPECT_EQ(leaf.address, 0x1040u);
  EXPECT_EQ(batch.Text(batch.mappings[leaf.mapping].build_id), "abcdef0123");
  EXPECT_EQ(batch.Text(batch.mappings[leaf.mapping].file), "lib.so");
}

TEST(ProfileDecoder, ReadsOffCpuPairsAndTotals) {
  const Pb off_cpu = Pb().Sub(1, Pb().Int(1, kOffCpu).Int(2, kNanos))
                         .Fixed64(3, 1000)
                         .Sub(2, Pb().Int(1, 1).Packed(4, {300, 400}).PackedFixed64(5, {1, 2}))
                         .Sub(2, Pb().Int(1, 2).Int(4, 50));
  const ProfileDecode decoded = Decode(Request({off_cpu}));
  const SampleBatch& batch = decoded.batch;
  EXPECT_EQ(batch.Text(batch.series.at(0).type), "off_cpu:off_cpu:nanoseconds::");
  ASSERT_EQ(batch.samples.size(), 3u);
  EXPECT_EQ(batch.samples[0].value, 300);
  EXPECT_EQ(batch.samples[1].time.ns, 2);
  EXPECT_EQ(batch.samples[2].value, 50);
  EXPECT_EQ(batch.samples[2].time.ns, 1000);
}

TEST(ProfileDecoder, TellsLayout9ByItsSamples) {
  // Field 2 values, 3 attributes, 4 link: read as 1.10 the value would be an attribute index.
  const Pb sample = Pb().Int(1, 1).Packed(2, {3000}).Packed(3, {1, 2}).Int(4, 1).Fixed64(5, 1001);
  const ProfileDecode decoded = Decode(
      Request({Pb().Sub(1, Pb().Int(1, kOffCpu).Int(2, kNanos)).Fixed64(3, 1000).Sub(2, sample)}));
  EXPECT_EQ(decoded.layout, ProfileLayout::kOtlp9);
  ASSERT_EQ(decoded.batch.samples.size(), 1u);
  EXPECT_EQ(decoded.batch.samples[0].value, 3000);
  EXPECT_NE(decoded.batch.samples[0].link, 0u);
  EXPECT_NE(decoded.batch.samples[0].labels, 0u);
}

TEST(ProfileDecoder, TellsLayout9WithUnpackedFields) {
  const Pb sample = Pb().Int(1, 1).Int(2, 3000).Int(3, 1).Int(3, 2);
  const ProfileDecode decoded = Decode(
      Request({Pb().Sub(1, Pb().Int(1, kOffCpu).Int(2, kNanos)).Fixed64(3, 1000).Sub(2, sample)}));
  EXPECT_EQ(decoded.layout, ProfileLayout::kOtlp9);
  EXPECT_EQ(decoded.batch.samples.at(0).value, 3000);
}

TEST(ProfileDecoder, OneSampleDecidesTheLayoutOfTheRequest) {
  // The first sample reads the same in both layouts.
  const Pb either = Pb().Int(1, 1).Fixed64(5, 1001);
  const Pb old = Pb().Int(1, 1).Packed(3, {1, 2}).Fixed64(5, 1002);
  const ProfileDecode decoded =
      Decode(Request({CpuProfile().Sub(2, either), CpuProfile().Sub(2, old)}));
  EXPECT_EQ(decoded.layout, ProfileLayout::kOtlp9);
  EXPECT_EQ(decoded.rejected, 0u);
  EXPECT_NE(decoded.batch.samples.at(1).labels, 0u);
}

TEST(ProfileDecoder, TakesUnpackedScalarsOfLayout10) {
  const Pb sample = Pb().Int(1, 1).Int(2, 1).Int(2, 2).Int(3, 1).Int(4, 9);
  const ProfileDecode decoded = Decode(
      Request({Pb().Sub(1, Pb().Int(1, kOffCpu).Int(2, kNanos)).Fixed64(3, 1000).Sub(2, sample)}));
  EXPECT_EQ(decoded.layout, ProfileLayout::kOtlp10);
  EXPECT_EQ(decoded.batch.samples.at(0).value, 9);
  EXPECT_FALSE(decoded.batch.timed);
}

TEST(ProfileDecoder, LabelAttributesBecomeLinks) {
  const Pb sample = Pb().Int(1, 1).Packed(2, {4, 5}).Fixed64(5, 1001);
  const ProfileDecode decoded = Decode(Request({CpuProfile().Sub(2, sample)}));
  const SampleRow& row = decoded.batch.samples.at(0);
  EXPECT_EQ(decoded.batch.links[row.link].span_id.AsBytes(), kSpan);
  EXPECT_EQ(decoded.batch.links[row.link].trace_id.AsBytes(), kTrace);
  EXPECT_EQ(row.labels, 0u);
}

TEST(ProfileDecoder, RejectsProfilesWithBadIndicesAndKeepsTheRest) {
  const std::pair<Pb, std::string_view> cases[] = {
      {Pb().Int(1, 99).Fixed64(5, 1), "a stack index"},
      {Pb().Int(1, 1).Packed(2, {99}).Fixed64(5, 1), "an attribute index"},
      {Pb().Int(1, 1).Int(3, 99).Fixed64(5, 1), "a link index"},
      {Pb().Int(1, 1), "neither value nor time"},
      {Pb().Int(1, 1).Packed(4, {5, 6}).Fixed64(5, 1), "unequal numbers"},
      {Pb().Signed(1, -1).Fixed64(5, 1), "a stack index"},
      {Pb().Int(1, 1).Fixed64(5, UINT64_MAX), "after the year"},
  };
  for (const auto& [sample, reason] : cases) {
    // Samples whose attributes and times fix the layout as 1.10.
    const Pb good = CpuProfile()
                        .Sub(2, Pb().Int(1, 1).Packed(2, {1, 2}).Fixed64(5, 1001))
                        .Sub(2, Pb().Int(1, 1).Packed(2, {1, 2}).Fixed64(5, 1001));
    const ProfileDecode decoded = Decode(Request({CpuProfile().Sub(2, sample), good}));
    EXPECT_EQ(decoded.rejected, 1u) << reason;
    EXPECT_EQ(decoded.profiles, 1u) << reason;
    EXPECT_EQ(decoded.batch.samples.size(), 2u) << reason;
    EXPECT_NE(decoded.message.find(reason), std::string::npos) << decoded.message;
  }
}

TEST(ProfileDecoder, RejectsOnlyUsersOfDamagedTables) {
  Pb dictionary = Dictionary();
  dictionary.Sub(3, Pb().Int(1, 999))
      .Sub(2, Pb().Sub(3, Pb().Int(1, 3)))
      .Sub(2, Pb().Int(1, 55))
      .Sub(7, Pb().Packed(1, {4}))
      .Sub(7, Pb().Packed(1, {5}))
      .Sub(7, Pb().Packed(1, {77}));
  for (const std::uint64_t stack : {3u, 4u, 5u}) {
    const ProfileDecode decoded =
        Decode(Request({CpuProfile().Sub(2, Pb().Int(1, stack).Fixed64(5, 1)),
                        CpuProfile().Sub(2, Pb().Int(1, 1).Fixed64(5, 1))},
                       dictionary));
    EXPECT_EQ(decoded.rejected, 1u) << stack;
    EXPECT_EQ(decoded.batch.samples.size(), 1u) << stack;
  }
}

TEST(ProfileDecoder, RefusesOlderLayouts) {
  const std::pair<std::string, std::string_view> cases[] = {
      {Request({Pb().Sub(1, Pb()).Sub(1, Pb())}), "several sample types"},
      {Request({Pb().Packed(3, {1, 2})}), "1.7 indices"},
      {Request({Pb().Text(8, kTrace)}), "1.8 profile id"},
      {Request({Pb().Fixed64(2, 5)}), "1.3 container"},
      {Request({CpuProfile()}, Dictionary().Sub(6, KeyValue("k", AnyText("v")))), "spelt keys"},
  };
  for (const auto& [body, what] : cases) {
    const auto decoded = DecodeProfiles(body, Encoding::kProtobuf);
    ASSERT_FALSE(decoded) << what;
    EXPECT_EQ(decoded.error().code(), Code::kInvalidArgument);
    EXPECT_NE(decoded.error().message().find("OTLP 1.9"), std::string::npos);
  }
}

TEST(ProfileDecoder, UsesTheReceiveTimeWhereNoneWasSent) {
  const Pb untimed =
      Pb().Sub(1, Pb().Int(1, kOffCpu).Int(2, kNanos)).Sub(2, Pb().Int(1, 1).Int(4, 5));
  const ProfileDecode decoded = Decode(Request({untimed}));
  EXPECT_EQ(decoded.batch.series.at(0).start.ns, 42);
  EXPECT_EQ(decoded.batch.samples.at(0).time.ns, 42);
  EXPECT_FALSE(decoded.has_time);
}

TEST(ProfileDecoder, RefusesEveryTruncation) {
  const std::string body =
      Request({CpuProfile().Sub(2, Pb().Int(1, 1).Packed(2, {1}).Fixed64(5, 1))});
  const std::size_t dictionary = body.size() - Dictionary().text().size() - 3;
  for (std::size_t size = 1; size < body.size(); ++size) {
    if (size == dictionary) continue;  // without the dictionary it is a whole message
    EXPECT_FALSE(DecodeProfiles(body.substr(0, size), Encoding::kProtobuf)) << size;
  }
}

TEST(ProfileDecoder, RejectsProfilesWithoutDictionary) {
  const std::string body = Request({CpuProfile().Sub(2, Pb().Int(1, 1).Fixed64(5, 1))}, Pb());
  const ProfileDecode decoded = Decode(body);
  EXPECT_EQ(decoded.rejected, 1u);
  EXPECT_TRUE(decoded.batch.samples.empty());
}

TEST(ProfileDecoder, TakesEmptyRequestsAndProfiles) {
  EXPECT_TRUE(Decode("").batch.samples.empty());
  const ProfileDecode decoded = Decode(Request({CpuProfile()}));
  EXPECT_EQ(decoded.profiles, 1u);
  EXPECT_TRUE(decoded.batch.series.empty());
}

TEST(ProfileDecoder, LimitsSamplesOfAMessage) {
  std::string times(8 * (limits::kSamplesPerMessageMax + 1), '\1');
  const auto decoded = DecodeProfiles(Request({CpuProfile().Sub(2, Pb().Int(1, 1).Text(5, times))}),
                                      Encoding::kProtobuf);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code(), Code::kResourceExhausted);
}

TEST(ProfileDecoder, LimitsTextThatIndicesMultiply) {
  Pb dictionary = Dictionary();
  dictionary.Text(5, std::string(60'000, 'x'));
  Pb resource;
  for (int i = 0; i < 1000; ++i) resource.Sub(1, Pb().Text(1, "k").Sub(2, Pb().Int(8, 15)));
  Pb request = Pb().Sub(2, dictionary);
  for (int i = 0; i < 10; ++i) {
    request.Sub(1, Pb().Sub(1, resource)
                       .Sub(2, Pb().Sub(2, CpuProfile().Sub(2, Pb().Int(1, 1).Fixed64(5, 1)))));
  }
  const auto decoded = DecodeProfiles(request.text(), Encoding::kProtobuf);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace hotspan::wire
