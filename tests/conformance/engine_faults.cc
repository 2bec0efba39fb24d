// The embedded engine over an environment that fails: acknowledged batches are never lost, none is
// doubled, and what was not acknowledged is there whole or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/clock.h"
#include "storage/embedded/embedded_engine.h"
#include "tests/conformance/fault_env.h"
#include "tests/conformance/workload.h"

namespace hotspan::conformance {
namespace {

using storage::Engine;

class EngineFaults : public ::testing::Test {
 protected:
  EngineFaults() : clock_(kNow) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "hotspan-fault-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~EngineFaults() override { std::filesystem::remove_all(folder_); }

  Result<std::unique_ptr<Engine>> Open() {
    return storage::OpenEmbeddedEngine({.folder = folder_ + "/data",
                                        .clock = &clock_,
                                        .env = &env_,
                                        .head_bytes_cut = std::size_t{64} << 10});
  }

  // A batch of one trace of its own and as many samples of one span.
  static storage::WriteBatch Numbered(std::uint32_t number) {
    Workload random(number);
    storage::WriteBatch batch;
    batch.batch_id = {number + 1, 77};
    batch.received = {kNow};
    auto spans = std::make_shared<SpanBatch>(*random.Spans(kSpans));
    for (std::uint32_t i = 0; i < kSpans; ++i) {
      spans->spans[i].trace_id = TraceOf(number);
      spans->spans[i].span_id = SpanOf(i + 1);
    }
    batch.spans = spans;
    auto samples = std::make_shared<SampleBatch>(*random.Samples(kSamples));
    samples->links.resize(2);
    samples->links[1] = {TraceOf(number), SpanOf(number + 1000), LinkKind::kSpan, {}};
    for (auto& row : samples->samples) row.link = 1;
    batch.samples = samples;
    return batch;
  }

  static TraceId TraceOf(std::uint32_t number) {
    TraceId id;
    id.bytes[3] = 9;
    std::memcpy(id.bytes.data() + 8, &number, 4);
    return id;
  }
  static SpanId SpanOf(std::uint32_t number) {
    SpanId id;
    std::memcpy(id.bytes.data(), &number, 4);
    return id;
  }

  // Every acknowledged batch is there once; any other whole or not at all.
  static void ExpectWhole(Engine& engine, std::uint32_t batches,
                          const std::set<std::uint32_t>& acknowledged) {
    for (std::uint32_t number = 0; number < batches; ++number) {
      const auto trace = engine.ReadTrace(TenantId::kDefault, TraceOf(number), {});
      ASSERT_TRUE(trace);
      const auto samples =
          engine.ReadSamples({.spans = {{TraceOf(number), SpanOf(number + 1000)}}});
      ASSERT_TRUE(samples);
      const bool there = !trace->spans.spans.empty();
      EXPECT_TRUE(there || !acknowledged.contains(number)) << "lost batch " << number;
      EXPECT_EQ(trace->spans.spans.size(), there ? kSpans : 0u) << "batch " << number;
      EXPECT_EQ(samples->samples.size(), there ? kSamples : 0u) << "batch " << number;
    }
  }

  static constexpr std::uint32_t kSpans = 20;
  static constexpr std::uint32_t kSamples = 30;
  ManualClock clock_;
  FaultEnv env_;
  std::string folder_;
};

TEST_F(EngineFaults, LosesNothingAcknowledgedWithEverythingUnsyncedThrownAway) {
  std::set<std::uint32_t> acknowledged;
  std::uint32_t next = 0;
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    {
      auto engine = Open();
      ASSERT_TRUE(engine) << engine.error().message();
      for (int i = 0; i < 8; ++i, ++next) {
        if ((*engine)->Write(Numbered(next))) acknowledged.insert(next);
      }
      if (round % 3 == 0) {
        ASSERT_TRUE((*engine)->Flush());
      }
      // From here on nothing reaches the disk, not even what closing would write.
      env_.FailFrom(1);
      for (int i = 0; i < 2; ++i, ++next) {
        if ((*engine)->Write(Numbered(next))) acknowledged.insert(next);
      }
    }
    env_.LoseUnsynced(round % 2 == 1, round % 4 == 3);
    env_.Heal();
    auto engine = Open();
    ASSERT_TRUE(engine) << engine.error().message();
    ExpectWhole(**engine, next, acknowledged);
    if (HasFailure()) return;
  }
  EXPECT_EQ(acknowledged.size(), 160u);
}

TEST_F(EngineFaults, SurvivesAFailureAtEachOperation) {
  std::uint32_t next = 0;
  std::set<std::uint32_t> acknowledged;
  for (std::uint64_t operation = 1; operation < 160; operation += operation < 40 ? 1 : 7) {
    SCOPED_TRACE(operation);
    {
      auto engine = Open();
      ASSERT_TRUE(engine) << engine.error().message();
      env_.FailFrom(operation);
      for (int i = 0; i < 3; ++i, ++next) {
        if ((*engine)->Write(Numbered(next))) acknowledged.insert(next);
        // Fails or not, as the operation falls; what was acknowledged stands.
        if (i == 1) static_cast<void>((*engine)->Flush());
      }
    }
    env_.LoseUnsynced(false, false);
    env_.Heal();
    auto engine = Open();
    ASSERT_TRUE(engine) << engine.error().message();
    ExpectWhole(**engine, next, acknowledged);
    if (HasFailure()) return;
  }
  EXPECT_FALSE(acknowledged.empty());
}

TEST_F(EngineFaults, RecoversFromAFullDiskWithoutARestart) {
  auto engine = Open();
  ASSERT_TRUE(engine);
  ASSERT_TRUE((*engine)->Write(Numbered(0)));
  env_.FailFrom(1);
  const auto refused = (*engine)->Write(Numbered(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kUnavailable);
  ExpectWhole(**engine, 1, {0});
  env_.Heal();
  ASSERT_TRUE((*engine)->Write(Numbered(1)));
  ExpectWhole(**engine, 2, {0, 1});
}

}  // namespace
}  // namespace hotspan::conformance
