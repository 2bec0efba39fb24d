#include "agent/profile_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "agent/test_otlp_reader.h"

namespace hotspan::agent {
namespace {

constexpr std::int64_t kStart = 1'700'000'000'000'000'000;

CollectedSample Sample(std::int64_t time_ns, std::int64_t value_ns, std::uint32_t stack,
                       std::uint8_t span, SampleKind kind = SampleKind::kOnCpu) {
  CollectedSample sample;
  sample.time_ns = time_ns;
  sample.value_ns = value_ns;
  sample.stack = stack;
  sample.thread_id = 77;
  sample.kind = kind;
  if (span != 0) {
    sample.trace_id.fill(0xaa);
    sample.span_id.fill(span);
  }
  return sample;
}

ProfileChunk Chunk() {
  ProfileChunk chunk;
  chunk.start_ns = kStart;
  chunk.end_ns = kStart + 1000;
  chunk.period_ns = 10'309'278;
  chunk.sampler = "perf";
  chunk.modules = {{"/usr/bin/shop", "abcd", 0x1000, 0x9000, 0x400}, {"/lib/c.so", "", 1, 2, 0}};
  chunk.locations = {{0x500, 0, "Pay()"}, {0x600, 0, "main"}, {0, kNoModule, "[io] read"}};
  chunk.stacks = {{0, 1}, {2, 0, 1}};
  chunk.samples = {Sample(kStart + 1, 100, 0, 5), Sample(kStart + 2, 110, 0, 5),
                   Sample(kStart + 3, 120, 0, 0),
                   Sample(kStart + 4, 5000, 1, 5, SampleKind::kOffCpu)};
  return chunk;
}

// A request with its dictionary, and what the tests ask of it.
struct Request {
  explicit Request(const ProfileChunk& chunk)
      : request(EncodeProfiles(EncodeResource({{"service.name", "shop", std::nullopt}}), chunk,
                               [](std::uint32_t id) { return id == 77 ? "worker" : ""; })),
        dictionary(request.Message(2)),
        strings(dictionary.All(5)),
        profiles(request.Message(1).Message(2).Messages(2)) {}

  std::string String(std::int64_t index) const {
    return strings.at(static_cast<std::size_t>(index));
  }
  std::string Type(const Pbf& profile, unsigned tag) const {
    return String(profile.Message(tag).Int(1)) + "/" + String(profile.Message(tag).Int(2));
  }
  // Attributes by their indices.
  std::map<std::string, std::string> Named(const std::vector<std::int64_t>& indices) const {
    std::map<std::string, std::string> named;
    const std::vector<Pbf> table = dictionary.Messages(6);
    for (const std::int64_t index : indices) {
      const Pbf& attribute = table.at(static_cast<std::size_t>(index));
      named[String(attribute.Int(1))] = AnyText(attribute.Message(2));
    }
    return named;
  }
  // Names of the frames of a stack, leaf first.
  std::vector<std::string> Frames(std::int64_t stack) const {
    std::vector<std::string> names;
    const Pbf found = dictionary.Messages(7).at(static_cast<std::size_t>(stack));
    for (const std::int64_t location : found.PackedInts(1)) {
      const Pbf line = dictionary.Messages(2).at(static_cast<std::size_t>(location)).Message(3);
      const Pbf function = dictionary.Messages(3).at(static_cast<std::size_t>(line.Int(1)));
      names.push_back(String(function.Int(1)));
    }
    return names;
  }

  Pbf request;
  Pbf dictionary;
  std::vector<std::string> strings;
  std::vector<Pbf> profiles;
};

TEST(ProfileEncoder, WritesOnCpuSamplesWithPeriodAndOffCpuWithout) {
  const Request read(Chunk());
  ASSERT_EQ(read.profiles.size(), 2u);
  EXPECT_EQ(read.Type(read.profiles[0], 1), "cpu/nanoseconds");
  EXPECT_EQ(read.Type(read.profiles[0], 5), "cpu/nanoseconds");
  EXPECT_EQ(read.profiles[0].Int(6), 10'309'278);
  EXPECT_EQ(read.Named(read.profiles[0].PackedInts(11)).at("hotspan.sampler"), "perf");
  EXPECT_EQ(read.Type(read.profiles[1], 1), "off_cpu/nanoseconds");
  EXPECT_FALSE(read.profiles[1].Has(5));
  EXPECT_FALSE(read.profiles[1].Has(6));
  EXPECT_EQ(read.profiles[0].Text(7).size(), 16u);
  EXPECT_NE(read.profiles[0].Text(7), read.profiles[1].Text(7));
}

TEST(ProfileEncoder, WritesLockWaitsAsTheirNumberAndTheirTime) {
  ProfileChunk chunk = Chunk();
  chunk.samples = {Sample(kStart + 1, 2'000'000, 0, 5, SampleKind::kLock),
                   Sample(kStart + 2, 3'000'000, 0, 5, SampleKind::kLock)};
  const Request read(chunk);
  ASSERT_EQ(read.profiles.size(), 2u);
  EXPECT_EQ(read.Type(read.profiles[0], 1), "contentions/count");
  EXPECT_EQ(read.profiles[0].Message(2).PackedInts(4), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(read.Type(read.profiles[1], 1), "delay/nanoseconds");
  EXPECT_EQ(read.profiles[1].Message(2).PackedInts(4),
            (std::vector<std::int64_t>{2'000'000, 3'000'000}));
  EXPECT_TRUE(read.profiles[1].Message(2).Has(3));
  EXPECT_FALSE(read.profiles[1].Has(5));
}

TEST(ProfileEncoder, JoinsSamplesOfTheSameStackThreadAndSpan) {
  const Request read(Chunk());
  const std::vector<Pbf> samples = read.profiles[0].Messages(2);
  ASSERT_EQ(samples.size(), 2u);
  const Pbf& linked = samples[0].Has(3) ? samples[0] : samples[1];
  const Pbf& plain = samples[0].Has(3) ? samples[1] : samples[0];
  EXPECT_EQ(linked.PackedInts(4), (std::vector<std::int64_t>{100, 110}));
  EXPECT_EQ(linked.PackedFixed64(5), (std::vector<std::uint64_t>{kStart + 1, kStart + 2}));
  EXPECT_EQ(plain.PackedInts(4), std::vector<std::int64_t>{120});
  EXPECT_FALSE(plain.Has(3));
  EXPECT_EQ(read.Named(linked.PackedInts(2)),
            (std::map<std::string, std::string>{{"thread.id", "77"}, {"thread.name", "worker"}}));
}

TEST(ProfileEncoder, LinksSamplesToTheirSpan) {
  const Request read(Chunk());
  const Pbf sample = read.profiles[1].Message(2);
  const std::vector<Pbf> links = read.dictionary.Messages(4);
  ASSERT_EQ(links.size(), 2u);
  EXPECT_TRUE(links[0].bytes().empty());
  const Pbf& link = links.at(static_cast<std::size_t>(sample.Int(3)));
  EXPECT_EQ(Hex(link.Text(1)), std::string(32, 'a'));
  EXPECT_EQ(Hex(link.Text(2)), "0505050505050505");
}

TEST(ProfileEncoder, WritesStacksLeafFirstWithPseudoFrames) {
  const Request read(Chunk());
  const Pbf sample = read.profiles[1].Message(2);
  EXPECT_EQ(read.Frames(sample.Int(1)), (std::vector<std::string>{"[io] read", "Pay()", "main"}));
}

TEST(ProfileEncoder, WritesMappingsWithBuildIdsAndAddressesWithinThem) {
  const Request read(Chunk());
  const std::vector<Pbf> mappings = read.dictionary.Messages(1);
  ASSERT_EQ(mappings.size(), 3u);
  EXPECT_TRUE(mappings[0].bytes().empty());
  EXPECT_EQ(mappings[1].Int(1), 0x1000);
  EXPECT_EQ(mappings[1].Int(2), 0x9000);
  EXPECT_EQ(mappings[1].Int(3), 0x400);
  EXPECT_EQ(read.String(mappings[1].Int(4)), "/usr/bin/shop");
  EXPECT_EQ(read.Named(mappings[1].PackedInts(5)).at("process.executable.build_id.gnu"), "abcd");
  EXPECT_FALSE(mappings[2].Has(5));
  const std::vector<Pbf> locations = read.dictionary.Messages(2);
  ASSERT_EQ(locations.size(), 4u);
  EXPECT_EQ(locations[1].Int(1), 1);
  EXPECT_EQ(locations[1].Int(2), 0x1100);  // 0x500 in the file, which is mapped from 0x400
  EXPECT_EQ(read.Named(locations[1].PackedInts(4)).at("profile.frame.type"), "native");
  EXPECT_FALSE(locations[3].Has(1));
}

TEST(ProfileEncoder, EveryTableBeginsWithNone) {
  const Request read(Chunk());
  EXPECT_EQ(read.strings.at(0), "");
  for (const unsigned table : {1u, 2u, 3u, 4u, 6u, 7u}) {
    EXPECT_TRUE(read.dictionary.Messages(table).at(0).bytes().empty()) << table;
  }
}

TEST(ProfileEncoder, CoversSamplesOlderAndNewerThanTheChunk) {
  ProfileChunk chunk = Chunk();
  chunk.samples = {Sample(kStart - 50, 1, 0, 0), Sample(kStart + 5000, 1, 0, 0)};
  const Request read(chunk);
  ASSERT_EQ(read.profiles.size(), 1u);
  EXPECT_EQ(read.profiles[0].Fixed64(3), static_cast<std::uint64_t>(kStart - 50));
  EXPECT_EQ(read.profiles[0].Int(4), 5051);
}

TEST(ProfileEncoder, LeavesOutSamplesThatPointNowhere) {
  ProfileChunk chunk = Chunk();
  chunk.stacks.push_back({99});
  chunk.samples.push_back(Sample(kStart, 1, 2, 0));   // a location that is not there
  chunk.samples.push_back(Sample(kStart, 1, 50, 0));  // a stack that is not there
  const Request read(chunk);
  EXPECT_EQ(read.profiles[0].Messages(2).size(), 2u);
}

TEST(ProfileEncoder, TellsOfLostSamples) {
  ProfileChunk chunk = Chunk();
  chunk.dropped = 9;
  const Request read(chunk);
  EXPECT_EQ(read.Named(read.profiles[0].PackedInts(11)).at("hotspan.dropped_samples"), "9");
}

}  // namespace
}  // namespace hotspan::agent
