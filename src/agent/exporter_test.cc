#include "agent/exporter.h"

#include <gtest/gtest.h>

#include <map>

#include "agent/env_config.h"
#include "agent/test_http_server.h"
#include "agent/test_otlp_reader.h"
#include "base/limits.h"

namespace hotspan::agent {
namespace {

class ExporterTest : public testing::Test {
 protected:
  // Sends at a flush and at the end only, unless told otherwise; tries again after 1 to 2 ms.
  ExporterOptions Options(const std::string& url) {
    ExporterOptions options;
    options.traces_url = *ParseHttpUrl(url + "/v1/traces");
    options.profiles_url = *ParseHttpUrl(url + "/v1development/profiles");
    options.interval_ms = 100 * kPatienceMs;
    options.timeout_ms = kPatienceMs;
    options.back_off_min_ms = options.back_off_max_ms = 2;
    options.resource = EncodeResource({{"service.name", "shop", std::nullopt}});
    return options;
  }

  void Start(ExporterOptions options) {
    exporter_ = std::make_unique<Exporter>(std::move(options), &queue_, &stats_);
    ASSERT_TRUE(exporter_->Start());
  }

  void Push(int count) {
    for (int i = 0; i < count; ++i) {
      auto span = std::make_unique<SpanRecord>();
      span->trace_id.fill(1);
      span->span_id.fill(2);
      span->name = "span " + std::to_string(i);
      if (queue_.Push(std::move(span)) == SpanQueue::Pushed::kYesAndWake) exporter_->Wake();
    }
  }

  static ProfileChunk OneSample() {
    ProfileChunk chunk;
    chunk.locations = {{0, kNoModule, "main"}};
    chunk.stacks = {{0}};
    chunk.samples.resize(1);
    return chunk;
  }

  SpanQueue queue_{100'000, 512};
  AgentStats stats_;
  std::unique_ptr<Exporter> exporter_;
};

TEST_F(ExporterTest, FlushSendsSpansAndProfiles) {
  TestHttpServer server;
  ExporterOptions options = Options(server.Url());
  options.headers = {{"X-Scope", "me"}};
  options.profiles = [] { return OneSample(); };
  Start(std::move(options));
  Push(3);
  EXPECT_TRUE(exporter_->Flush(kPatienceMs));
  const TestRequest traces = server.WaitFor(1, "/v1/traces")[0];
  EXPECT_TRUE(traces.gzip);
  EXPECT_NE(traces.head.find("Content-Type: application/x-protobuf\r\n"), std::string::npos);
  EXPECT_NE(traces.head.find("X-Scope: me\r\n"), std::string::npos);
  EXPECT_EQ(ReadSpans(traces.body).size(), 3u);
  EXPECT_EQ(ReadResource(traces.body).at("service.name"), "shop");
  const TestRequest profiles = server.WaitFor(1, "/v1development/profiles")[0];
  EXPECT_EQ(Pbf(profiles.body).Message(1).Message(2).Messages(2).size(), 1u);
  EXPECT_EQ(stats_.spans_sent, 3u);
  EXPECT_EQ(stats_.samples_taken, 1u);
  EXPECT_EQ(stats_.samples_sent, 1u);
  EXPECT_EQ(stats_.spans_dropped + stats_.samples_dropped, 0u);
}

TEST_F(ExporterTest, SendsAFullBatchWithoutBeingAsked) {
  TestHttpServer server;
  Start(Options(server.Url()));
  // Past its first round, which takes what is there.
  ASSERT_TRUE(exporter_->Flush(kPatienceMs));
  Push(512);
  EXPECT_EQ(ReadSpans(server.WaitFor(1)[0].body).size(), 512u);
}

TEST_F(ExporterTest, SendsBatchesOfABoundedSize) {
  TestHttpServer server;
  Start(Options(server.Url()));
  Push(511);
  Push(600);
  EXPECT_TRUE(exporter_->Flush(kPatienceMs));
  std::size_t spans = 0;
  for (const TestRequest& request : server.WaitFor(3)) {
    const std::size_t count = ReadSpans(request.body).size();
    EXPECT_LE(count, 512u);
    spans += count;
  }
  EXPECT_EQ(spans, 1111u);
}

TEST_F(ExporterTest, SendsWhenTheIntervalHasPassed) {
  TestHttpServer server;
  ExporterOptions options = Options(server.Url());
  options.interval_ms = 1;
  Start(std::move(options));
  Push(1);
  EXPECT_EQ(ReadSpans(server.WaitFor(1)[0].body).size(), 1u);
}

TEST_F(ExporterTest, SendsPlainProtobufIfCompressionIsOff) {
  TestHttpServer server;
  ExporterOptions options = Options(server.Url());
  options.gzip = false;
  Start(std::move(options));
  Push(1);
  EXPECT_TRUE(exporter_->Flush(kPatienceMs));
  EXPECT_FALSE(server.WaitFor(1)[0].gzip);
}

TEST_F(ExporterTest, TriesAgainWhenTheServerIsBusy) {
  const std::map<int, std::string> busy = {{0, Answer("503 Busy")},
                                           {1, Answer("429 Slow", "Retry-After: 0\r\n")},
                                           {2, Answer("502 Bad gateway")},
                                           {3, Answer("504 Timeout")},
                                           {4, std::string()}};  // closed without an answer
  TestHttpServer server([&](const TestRequest&, int number) {
    const auto at = busy.find(number);
    return at == busy.end() ? Answer("200 OK") : at->second;
  });
  Start(Options(server.Url()));
  Push(2);
  EXPECT_TRUE(exporter_->Flush(kPatienceMs));
  const auto requests = server.WaitFor(6);
  EXPECT_EQ(requests.size(), 6u);
  EXPECT_EQ(requests.front().body, requests.back().body);
  EXPECT_EQ(stats_.spans_sent, 2u);
  EXPECT_EQ(stats_.spans_dropped, 0u);
}

TEST_F(ExporterTest, HonoursRetryAfter) {
  TestHttpServer server(
      [](const TestRequest&, int) { return Answer("503 Busy", "Retry-After: 3600\r\n"); });
  Start(Options(server.Url()));
  Push(1);
  // Would see many requests otherwise: the back-off is 2 ms.
  EXPECT_FALSE(exporter_->Flush(200));
  EXPECT_EQ(server.WaitFor(1).size(), 1u);
}

TEST_F(ExporterTest, CountsWhatTheServerRefuses) {
  TestHttpServer server([](const TestRequest&, int) { return Answer("400 Bad request"); });
  Start(Options(server.Url()));
  Push(2);
  EXPECT_FALSE(exporter_->Flush(kPatienceMs));
  EXPECT_EQ(server.WaitFor(1).size(), 1u);
  EXPECT_EQ(stats_.spans_sent, 0u);
  EXPECT_EQ(stats_.spans_dropped, 2u);
}

TEST_F(ExporterTest, CountsPartialSuccess) {
  const std::string partial("\x0a\x04\x08\x01\x12\x00", 6);
  TestHttpServer server([&](const TestRequest&, int) { return Answer("200 OK", {}, partial); });
  Start(Options(server.Url()));
  Push(3);
  EXPECT_FALSE(exporter_->Flush(kPatienceMs));
  EXPECT_EQ(server.WaitFor(1).size(), 1u);
  EXPECT_EQ(stats_.spans_sent, 2u);
  EXPECT_EQ(stats_.spans_dropped, 1u);
}

TEST_F(ExporterTest, DropsAndCountsAtTheEndWhenNobodyListens) {
  Start(Options(DeadUrl()));
  Push(2);
  EXPECT_FALSE(exporter_->Flush(kPatienceMs));
  EXPECT_EQ(stats_.spans_dropped, 0u);  // they still wait
  exporter_->Stop(kPatienceMs);
  EXPECT_EQ(stats_.spans_dropped, 2u);
}

TEST_F(ExporterTest, StopSendsWhatIsLeft) {
  TestHttpServer server;
  ExporterOptions options = Options(server.Url());
  options.profiles = [] { return OneSample(); };
  Start(std::move(options));
  Push(1);
  exporter_->Stop(kPatienceMs);
  EXPECT_EQ(stats_.spans_sent, 1u);
  EXPECT_EQ(stats_.samples_sent, 1u);
  EXPECT_FALSE(exporter_->Flush(kPatienceMs));
  exporter_->Stop(kPatienceMs);
}

TEST_F(ExporterTest, StopDoesNotWaitForASlowServer) {
  Mutex mutex;
  CondVar changed;
  bool may_end = false;
  TestHttpServer server([&](const TestRequest&, int) {
    const MutexLock lock(mutex);
    while (!may_end) changed.Wait(mutex);
    return std::string();
  });
  ExporterOptions options = Options(server.Url());
  options.timeout_ms = 100 * kPatienceMs;
  Start(std::move(options));
  Push(1);
  EXPECT_FALSE(exporter_->Flush(1));
  server.WaitFor(1);
  exporter_->Stop(1);
  EXPECT_EQ(stats_.spans_dropped, 1u);
  const MutexLock lock(mutex);
  may_end = true;
  changed.NotifyAll();
}

TEST_F(ExporterTest, OldestBatchesGoFirstWhenTheServerIsAway) {
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> dropped{0};
  std::atomic<std::int64_t> cut_off{INT64_MAX};
  bool told = false;
  LaneOptions options;
  options.signal = "spans";
  ExportLane lane(options, *ParseHttpUrl(DeadUrl()), &cut_off, &sent, &dropped, &told);
  for (std::size_t i = 0; i < limits::kAgentPendingBatchesMax + 3; ++i) lane.Add("x", 10, 10);
  EXPECT_EQ(dropped, 30u);
  EXPECT_EQ(lane.Send(true), ExportLane::Outcome::kNoServer);
  EXPECT_EQ(lane.Send(false), ExportLane::Outcome::kWaiting);
  EXPECT_TRUE(told);
  lane.DropAll();
  EXPECT_EQ(dropped, 10 * (limits::kAgentPendingBatchesMax + 3));
  EXPECT_EQ(sent, 0u);
}

}  // namespace
}  // namespace hotspan::agent
