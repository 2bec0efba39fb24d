#include "ingest/pipeline.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

#include "base/limits.h"
#include "wire/test_protobuf.h"

namespace hotspan::ingest {
namespace {

using wire::Pb;

// Keeps what it is given; refuses on request.
class RecordingEngine final : public storage::Engine {
 public:
  Result<storage::WriteOutcome> Write(storage::WriteBatch batch) override {
    if (!healthy) return Fail(Code::kUnavailable, "disk is full");
    if (on_write) on_write();
    const bool known = !batch.batch_id.IsZero() && !ids.insert(batch.batch_id).second;
    if (!known) batches.push_back(std::move(batch));
    return storage::WriteOutcome{.duplicate = known};
  }
  Result<storage::SpanScanResult> ReadTrace(TenantId, const TraceId&,
                                            const storage::Budget&) override {
    return storage::SpanScanResult{};
  }
  Result<storage::SpanScanResult> ScanSpans(const storage::SpanScan&) override {
    return storage::SpanScanResult{};
  }
  Result<storage::SpanSamples> ReadSamples(const storage::SamplesBySpans&) override {
    return storage::SpanSamples{};
  }
  Result<storage::MergedSamples> MergeSamples(const storage::SampleMerge&) override {
    return storage::MergedSamples{};
  }
  Result<FrameTable> ReadStacks(std::span<const StackNumber>) override { return FrameTable{}; }
  Result<storage::Catalog> ReadCatalog(const storage::CatalogRequest&) override {
    return storage::Catalog{};
  }
  Result<storage::TagsResult> ReadTags(const storage::TagsRequest&) override {
    return storage::TagsResult{};
  }
  Status ApplyRetention(const storage::RetentionPolicy&, TimeNs) override { return {}; }
  Status Flush() override { return {}; }
  storage::EngineStats Stats() const override { return {}; }

  bool healthy = true;
  std::function<void()> on_write;
  std::vector<storage::WriteBatch> batches;
  std::set<Hash128> ids;
};

std::string Traces(std::string_view span_id = "\x11\x12\x13\x14\x15\x16\x17\x18") {
  const Pb good = Pb().Text(1, "0123456789abcdef").Text(2, span_id).Fixed64(7, 1).Fixed64(8, 2);
  const Pb bad = Pb().Text(1, "short").Text(5, "bad one");
  return Pb().Sub(1, Pb().Sub(2, Pb().Sub(2, good).Sub(2, bad))).text();
}

Body TraceBody(std::string_view bytes) {
  return {.path = "/v1/traces",
          .query = "",
          .content_type = "application/x-protobuf",
          .content_encoding = "",
          .bytes = bytes};
}

Body FoldedBody(std::string_view query, std::string_view bytes) {
  return {.path = "/ingest",
          .query = query,
          .content_type = "",
          .content_encoding = "",
          .bytes = bytes};
}

class PipelineTest : public testing::Test {
 protected:
  const SignalStats Stats(Signal signal) const {
    return pipeline.Stats().signals[static_cast<std::size_t>(signal)];
  }
  std::uint64_t Refused(Signal signal, Refusal refusal) const {
    return Stats(signal).refused[static_cast<std::size_t>(refusal)];
  }

  RecordingEngine engine;
  ManualClock clock{1'700'000'000'000'000'000};
  Pipeline pipeline{engine, clock};
};

TEST_F(PipelineTest, StoresSpansAndReportsThePartialSuccess) {
  const std::string body = Traces();
  const auto receipt = pipeline.Traces(TraceBody(body));
  ASSERT_TRUE(receipt) << receipt.error().message();
  EXPECT_EQ(receipt->accepted, 1u);
  EXPECT_EQ(receipt->rejected, 1u);
  EXPECT_NE(receipt->message.find("bad one"), std::string::npos);
  ASSERT_EQ(engine.batches.size(), 1u);
  EXPECT_EQ(engine.batches[0].received.ns, clock.NowNs());
  EXPECT_FALSE(engine.batches[0].batch_id.IsZero());
  EXPECT_EQ(Stats(Signal::kTraces).accepted, 1u);
  EXPECT_EQ(Stats(Signal::kTraces).rejected, 1u);
  EXPECT_EQ(Stats(Signal::kTraces).wire_bytes, body.size());
  EXPECT_EQ(pipeline.Stats().in_flight_bytes, 0u);
  EXPECT_EQ(pipeline.Stats().in_flight_bytes_max, 2 * body.size());
}

TEST_F(PipelineTest, AcknowledgesARetryOnce) {
  const std::string body = Traces();
  ASSERT_TRUE(pipeline.Traces(TraceBody(body)));
  const auto retry = pipeline.Traces(TraceBody(body));
  ASSERT_TRUE(retry);
  EXPECT_TRUE(retry->duplicate);
  EXPECT_EQ(engine.batches.size(), 1u);
  EXPECT_EQ(Stats(Signal::kTraces).duplicates, 1u);
  EXPECT_EQ(Stats(Signal::kTraces).accepted, 1u);
}

TEST_F(PipelineTest, TellsTenantsPathsAndBodiesApart) {
  const std::string body = Traces(), other = Traces("abcdefgh");
  ASSERT_TRUE(pipeline.Traces(TraceBody(body)));
  ASSERT_TRUE(pipeline.Traces(TraceBody(other)));
  Body moved = TraceBody(body);
  moved.path = "/other";
  ASSERT_TRUE(pipeline.Traces(moved));
  moved.tenant = static_cast<TenantId>(2);
  ASSERT_TRUE(pipeline.Traces(moved));
  EXPECT_EQ(engine.ids.size(), 4u);
}

TEST_F(PipelineTest, RefusesOtherContentTypes) {
  Body body = TraceBody("");
  for (const char* type : {"", "text/plain", "application/xml"}) {
    body.content_type = type;
    const auto refused = pipeline.Traces(body);
    ASSERT_FALSE(refused) << type;
    EXPECT_EQ(refused.error().field(), "content-type");
  }
  body.content_type = "Application/JSON ; charset=utf-8";
  body.bytes = "{}";
  EXPECT_TRUE(pipeline.Traces(body));
  EXPECT_EQ(Refused(Signal::kTraces, Refusal::kContentType), 3u);
}

TEST_F(PipelineTest, CountsRefusalsByReason) {
  EXPECT_FALSE(pipeline.Traces(TraceBody("\xff\xff")));
  EXPECT_EQ(Refused(Signal::kTraces, Refusal::kMalformed), 1u);
  Body encoded = TraceBody("abc");
  encoded.content_encoding = "br";
  EXPECT_FALSE(pipeline.Traces(encoded));
  EXPECT_EQ(Refused(Signal::kTraces, Refusal::kContentType), 1u);
  const std::string large(limits::kBodyBytesMax + 1, '\0');
  const auto refused = pipeline.Traces(TraceBody(large));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kResourceExhausted);
  EXPECT_EQ(refused.error().field(), "");
  EXPECT_EQ(Refused(Signal::kTraces, Refusal::kTooLarge), 1u);
  engine.healthy = false;
  const std::string body = Traces();
  const auto failed = pipeline.Traces(TraceBody(body));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::kUnavailable);
  EXPECT_EQ(Refused(Signal::kTraces, Refusal::kStorage), 1u);
}

TEST_F(PipelineTest, AsksForARetryWhenTooMuchIsInFlight) {
  const std::string large(60u << 20, '#');
  const std::string folded = "main 1\n" + large;
  int depth = 0;
  Result<Receipt> innermost;
  // Each write begins another request while it holds its own bytes.
  engine.on_write = [&] {
    if (++depth > 5) return;
    const auto nested = pipeline.Pyroscope(FoldedBody("name=a", folded));
    if (!nested) innermost = Fail(nested.error());
  };
  ASSERT_TRUE(pipeline.Pyroscope(FoldedBody("name=a", folded)));
  ASSERT_FALSE(innermost);
  EXPECT_EQ(innermost.error().field(), "in-flight");
  EXPECT_EQ(innermost.error().code(), Code::kResourceExhausted);
  EXPECT_EQ(Refused(Signal::kPyroscope, Refusal::kOverload), 1u);
  EXPECT_EQ(pipeline.Stats().in_flight_bytes, 0u);
  EXPECT_LE(pipeline.Stats().in_flight_bytes_max, limits::kIngestInFlightBytesMax);
}

TEST_F(PipelineTest, GivesUndatedProfilesNoIdentity) {
  ASSERT_TRUE(pipeline.Pyroscope(FoldedBody("name=a", "main 1\n")));
  ASSERT_TRUE(pipeline.Pyroscope(FoldedBody("name=a", "main 1\n")));
  EXPECT_EQ(engine.batches.size(), 2u);
  EXPECT_TRUE(engine.batches[0].batch_id.IsZero());
  ASSERT_TRUE(pipeline.Pyroscope(FoldedBody("name=a&from=1700000000", "main 1\n")));
  EXPECT_FALSE(engine.batches[2].batch_id.IsZero());
  const auto again = pipeline.Pyroscope(FoldedBody("name=a&from=1700000000", "main 1\n"));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->duplicate);
  EXPECT_EQ(pipeline.Stats().layouts[static_cast<std::size_t>(wire::ProfileLayout::kFolded)], 3u);
  EXPECT_EQ(Stats(Signal::kPyroscope).samples, 3u);
}

TEST_F(PipelineTest, StoresOtlpProfiles) {
  Pb dictionary;
  for (const char* text : {"", "samples", "count", "cpu", "nanoseconds"}) dictionary.Text(5, text);
  dictionary.Sub(7, Pb());
  const Pb profile = Pb().Sub(1, Pb().Int(1, 1).Int(2, 2))
                         .Sub(5, Pb().Int(1, 3).Int(2, 4))
                         .Int(6, 10)
                         .Fixed64(3, 1000)
                         .Sub(2, Pb().Int(1, 0).Fixed64(5, 1001));
  const std::string bytes =
      Pb().Sub(1, Pb().Sub(2, Pb().Sub(2, profile))).Sub(2, dictionary).text();
  Body body = TraceBody(bytes);
  body.path = "/v1development/profiles";
  const auto receipt = pipeline.Profiles(body);
  ASSERT_TRUE(receipt) << receipt.error().message();
  EXPECT_EQ(receipt->accepted, 1u);
  ASSERT_EQ(engine.batches.size(), 1u);
  EXPECT_EQ(engine.batches[0].samples->samples.size(), 1u);
  EXPECT_FALSE(engine.batches[0].batch_id.IsZero());
  EXPECT_EQ(pipeline.Stats().layouts[static_cast<std::size_t>(wire::ProfileLayout::kOtlp10)], 1u);
  body.path = "/v1experimental/profiles";
  EXPECT_FALSE(pipeline.Profiles(body));
}

TEST_F(PipelineTest, TakesEmptyRequestsWithoutWriting) {
  EXPECT_TRUE(pipeline.Traces(TraceBody("")));
  EXPECT_TRUE(pipeline.Profiles(TraceBody("")));
  EXPECT_TRUE(engine.batches.empty());
}

TEST(IngestNames, AreStable) {
  EXPECT_EQ(SignalName(Signal::kPyroscope), "pyroscope");
  EXPECT_EQ(RefusalName(Refusal::kOverload), "overload");
}

}  // namespace
}  // namespace hotspan::ingest
