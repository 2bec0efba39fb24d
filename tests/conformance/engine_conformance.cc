// One suite for all engines: random work from a printed seed, and after each step the same answers
// as the reference engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "base/clock.h"
#include "storage/embedded/embedded_engine.h"
#include "storage/reference/reference_engine.h"
#include "tests/conformance/workload.h"

namespace hotspan::conformance {
namespace {

using storage::Engine;

// A folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hotspan-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct World {
  const char* name;
  bool restarts;               // whether closing and opening keeps the data
  std::size_t head_bytes_cut;  // tiny: nearly every write is cut
};

class EngineConformance : public ::testing::TestWithParam<World> {
 protected:
  EngineConformance() : clock_(kNow) { Open(); }

  void Open() {
    engine_.reset();
    if (!GetParam().restarts) {
      engine_ = storage::MakeReferenceEngine(clock_);
      return;
    }
    auto opened = storage::OpenEmbeddedEngine({.folder = folder_.path() + "/data",
                                               .clock = &clock_,
                                               .head_bytes_cut = GetParam().head_bytes_cut});
    ASSERT_TRUE(opened) << opened.error().message();
    engine_ = std::move(*opened);
  }

  TemporaryFolder folder_;
  ManualClock clock_;
  std::unique_ptr<Engine> engine_;
};

std::uint64_t Seed(std::uint64_t fallback) {
  const char* text = std::getenv("HOTSPAN_TEST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}

void CompareAnswers(Engine& engine, Engine& oracle, Workload& random) {
  const TraceId trace = random.Trace();
  EXPECT_EQ(Dump(engine.ReadTrace(TenantId::kDefault, trace, {})->spans),
            Dump(oracle.ReadTrace(TenantId::kDefault, trace, {})->spans));
  const auto scan = random.Scan();
  EXPECT_EQ(Dump(engine.ScanSpans(scan)->spans), Dump(oracle.ScanSpans(scan)->spans));
  const auto by_spans = random.BySpans();
  EXPECT_EQ(Dump(engine, *engine.ReadSamples(by_spans)),
            Dump(oracle, *oracle.ReadSamples(by_spans)));
  const auto merge = random.Merge();
  const auto mine = engine.MergeSamples(merge), expected = oracle.MergeSamples(merge);
  EXPECT_EQ(Dump(engine, *mine), Dump(oracle, *expected));
  EXPECT_EQ(mine->samples, expected->samples);
  const storage::CatalogRequest catalog{.range = random.Range(),
                                        .service = random.Chance(0.5) ? random.Service() : ""};
  EXPECT_EQ(Dump(*engine.ReadCatalog(catalog)), Dump(*oracle.ReadCatalog(catalog)));
  const storage::TagsRequest tags{.range = random.Range(), .key = random.Chance(0.5) ? "key1" : ""};
  EXPECT_EQ(Dump(*engine.ReadTags(tags)), Dump(*oracle.ReadTags(tags)));
}

TEST_P(EngineConformance, AnswersAsTheReferenceDoesAfterRandomWork) {
  for (std::uint64_t round = 0; round < 3; ++round) {
    const std::uint64_t seed = Seed(20'261 + round);
    SCOPED_TRACE(::testing::Message() << "HOTSPAN_TEST_SEED=" << seed);
    engine_.reset();
    std::filesystem::remove_all(folder_.path() + "/data");
    Open();
    Workload random(seed);
    const auto oracle = storage::MakeReferenceEngine(clock_);
    std::vector<storage::WriteBatch> written;
    for (int step = 0; step < 60; ++step) {
      storage::WriteBatch batch = random.Batch();
      if (!written.empty() && random.Chance(0.1)) {
        batch = written[random.Below(written.size())];
        // The same request again, or the same data by another way.
        if (random.Chance(0.5)) batch.batch_id.low ^= 1;
      }
      const auto expected = oracle->Write(batch), mine = engine_->Write(batch);
      ASSERT_TRUE(mine) << mine.error().message();
      ASSERT_EQ(mine->duplicate, expected->duplicate);
      written.push_back(batch);
      if (random.Chance(0.1)) {
        ASSERT_TRUE(engine_->Flush());
      }
      if (random.Chance(0.05) && GetParam().restarts) Open();
      if (random.Chance(0.03)) {
        const storage::RetentionPolicy policy{
            .traces = {static_cast<std::int64_t>(1 + random.Below(6)) * kHour.ns},
            .profiles = {static_cast<std::int64_t>(1 + random.Below(6)) * kHour.ns}};
        ASSERT_TRUE(oracle->ApplyRetention(policy, {kNow}));
        ASSERT_TRUE(engine_->ApplyRetention(policy, {kNow}));
      }
      CompareAnswers(*engine_, *oracle, random);
      if (HasFailure()) return;
    }
  }
}

TEST_P(EngineConformance, ReturnsEachSpanOfATraceOnceAfterRestart) {
  Workload random(7);
  storage::WriteBatch batch;
  batch.spans = random.Spans(200);
  ASSERT_TRUE(engine_->Write(batch));
  ASSERT_TRUE(engine_->Write(batch));  // no batch id: the same spans again
  const auto oracle = storage::MakeReferenceEngine(clock_);
  ASSERT_TRUE(oracle->Write(batch));
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < 40; ++i) {
      const TraceId trace = random.Trace();
      EXPECT_EQ(Dump(engine_->ReadTrace(TenantId::kDefault, trace, {})->spans),
                Dump(oracle->ReadTrace(TenantId::kDefault, trace, {})->spans));
    }
    if (!GetParam().restarts) break;
    ASSERT_TRUE(engine_->Flush());
    Open();
  }
}

TEST_P(EngineConformance, TakesABatchIdOnceWithinFifteenMinutes) {
  Workload random(8);
  storage::WriteBatch batch;
  batch.batch_id = {1, 2};
  batch.spans = random.Spans(5);
  batch.received = {clock_.NowNs()};
  EXPECT_FALSE(engine_->Write(batch)->duplicate);
  EXPECT_TRUE(engine_->Write(batch)->duplicate);
  if (GetParam().restarts) {
    Open();
    EXPECT_TRUE(engine_->Write(batch)->duplicate);
    ASSERT_TRUE(engine_->Flush());
    Open();
    EXPECT_TRUE(engine_->Write(batch)->duplicate);
  }
  clock_.Advance(15 * kMinute.ns);
  batch.received = {clock_.NowNs()};
  EXPECT_FALSE(engine_->Write(batch)->duplicate);
}

TEST_P(EngineConformance, KeepsTenantsApart) {
  Workload random(9);
  storage::WriteBatch batch;
  batch.tenant = TenantId{7};
  batch.spans = random.Spans(50);
  batch.samples = random.Samples(50);
  ASSERT_TRUE(engine_->Write(batch));
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_TRUE(engine_->ScanSpans({})->spans.spans.empty());
    EXPECT_EQ(engine_->ScanSpans({.tenant = TenantId{7}})->spans.spans.empty(), false);
    EXPECT_TRUE(engine_->MergeSamples({.type = "cpu"})->stacks.empty());
    EXPECT_TRUE(engine_->ReadCatalog({})->operations.empty());
    EXPECT_TRUE(engine_->ReadTags({})->span.empty());
    ASSERT_TRUE(engine_->Flush());
  }
}

TEST_P(EngineConformance, ScansHotColumnsWithoutAttributes) {
  Workload random(10);
  storage::WriteBatch batch;
  batch.spans = random.Spans(300);
  ASSERT_TRUE(engine_->Write(batch));
  ASSERT_TRUE(engine_->Flush());
  const auto found = engine_->ScanSpans({.wide = false});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->spans.spans.empty());
  for (const SpanRow& row : found->spans.spans) {
    EXPECT_FALSE(found->spans.ServiceOf(row).empty());
    EXPECT_FALSE(found->spans.Text(row.name).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Every, EngineConformance,
                         ::testing::Values(World{"reference", false, 0},
                                           World{"embedded", true, std::size_t{48} << 20},
                                           World{"embedded_tiny_head", true, 1}),
                         [](const auto& world) { return world.param.name; });

TEST(EmbeddedEngine, RefusesAFolderInUse) {
  TemporaryFolder folder;
  const ManualClock clock(kNow);
  const storage::EmbeddedOptions options{.folder = folder.path() + "/data", .clock = &clock};
  const auto first = storage::OpenEmbeddedEngine(options);
  ASSERT_TRUE(first);
  const auto second = storage::OpenEmbeddedEngine(options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::kFailedPrecondition);
  EXPECT_THAT(second.error().message(), ::testing::HasSubstr("in use by another process"));
}

TEST(EmbeddedEngine, RefusesANewerFormat) {
  TemporaryFolder folder;
  const ManualClock clock(kNow);
  const storage::EmbeddedOptions options{.folder = folder.path(), .clock = &clock};
  {
    ASSERT_TRUE(storage::OpenEmbeddedEngine(options));
  }
  std::FILE* file = std::fopen((folder.path() + "/FORMAT").c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("hotspan 99\n", file);
  std::fclose(file);
  const auto opened = storage::OpenEmbeddedEngine(options);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), ::testing::HasSubstr("has format 99"));
}

}  // namespace
}  // namespace hotspan::conformance
