#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "agent/hotspan.h"
#include "agent/test_http_server.h"
#include "agent/test_otlp_reader.h"

namespace hotspan::agent {
namespace {

// Starts the library without a profile against a server of its own.
class CApiTest : public testing::Test {
 protected:
  void Start() {
    const std::string url = server_.Url();
    hotspan_options options{};
    options.size = sizeof(options);
    options.service_name = "c-test";
    options.endpoint = url.c_str();
    options.cpu_hz = -1;
    ASSERT_EQ(hotspan_start(&options), 0);
  }
  void TearDown() override { hotspan_stop(); }

  // All spans ended so far, by name.
  std::map<std::string, ReadSpan> Spans() {
    EXPECT_EQ(hotspan_flush(kPatienceMs), 0);
    std::map<std::string, ReadSpan> spans;
    for (const TestRequest& request : server_.WaitFor(1, "/v1/traces")) {
      for (const ReadSpan& span : ReadSpans(request.body)) spans[span.name] = span;
    }
    return spans;
  }

  static hotspan_span* Span(const char* name) {
    return hotspan_span_start(name, HOTSPAN_INTERNAL, nullptr, nullptr, 0);
  }

  TestHttpServer server_;
};

TEST_F(CApiTest, DoesNothingWhileNotStarted) {
  hotspan_span* const span = Span("x");
  ASSERT_NE(span, nullptr);
  hotspan_span_set_int(span, "k", 1);
  hotspan_span_add_event(span, "e");
  hotspan_span_set_error(span, "m");
  hotspan_span_detach(span);
  hotspan_span_attach(span);
  hotspan_context context;
  hotspan_span_context(span, &context);
  EXPECT_EQ(context.trace_flags, 0);
  EXPECT_EQ(hotspan_ctx_current(&context), 0);
  char text[56];
  EXPECT_EQ(hotspan_traceparent(text), 0);
  EXPECT_STREQ(text, "");
  hotspan_span_end(span);
  EXPECT_EQ(hotspan_flush(0), -1);
  hotspan_stop();
}

TEST_F(CApiTest, ToleratesNullEverywhere) {
  Start();
  hotspan_span* const span = hotspan_span_start(nullptr, 99, nullptr, nullptr, -1);
  ASSERT_NE(span, nullptr);
  hotspan_span_set_string(span, nullptr, nullptr, 5);
  hotspan_span_set_string(span, "empty", nullptr, 5);
  hotspan_span_set_int(nullptr, "k", 1);
  hotspan_span_add_event(span, nullptr);
  hotspan_span_set_error(span, nullptr);
  hotspan_span_context(span, nullptr);
  hotspan_span_end(span);
  hotspan_span_end(nullptr);
  hotspan_ctx_attach(nullptr);
  hotspan_context context;
  EXPECT_EQ(hotspan_ctx_current(&context), 0);
  EXPECT_EQ(hotspan_ctx_current(nullptr), 0);
  hotspan_ctx_detach();
  EXPECT_EQ(hotspan_traceparent(nullptr), 0);
  hotspan_get_stats(nullptr);
  const auto spans = Spans();
  EXPECT_EQ(spans.at("").kind, HOTSPAN_INTERNAL);
  EXPECT_EQ(spans.at("").status, 2);
}

TEST_F(CApiTest, SendsWhatASpanWasGiven) {
  Start();
  hotspan_span* const span = hotspan_span_start("work", HOTSPAN_CLIENT, "shop.cc", "Pay", 42);
  hotspan_span_set_string(span, "text", "abcdef", 3);
  hotspan_span_set_int(span, "int", -1);
  hotspan_span_set_double(span, "double", 1.5);
  hotspan_span_set_bool(span, "bool", 2);
  hotspan_span_add_event(span, "first");
  hotspan_span_add_event(span, "second");
  hotspan_span_set_error(span, "no funds");
  hotspan_span_end(span);
  const ReadSpan read = Spans().at("work");
  EXPECT_EQ(read.kind, HOTSPAN_CLIENT);
  EXPECT_EQ(read.attributes, (std::map<std::string, std::string>{{"code.file.path", "shop.cc"},
                                                                 {"code.function.name", "Pay"},
                                                                 {"code.line.number", "42"},
                                                                 {"text", "abc"},
                                                                 {"int", "-1"},
                                                                 {"double", "1.500000"},
                                                                 {"bool", "true"}}));
  EXPECT_EQ(read.events, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(read.status, 2);
  EXPECT_EQ(read.status_message, "no funds");
  EXPECT_EQ(read.parent_id, "");
  EXPECT_EQ(read.flags, 0x101u);
  EXPECT_GE(read.end, read.start);
}

TEST_F(CApiTest, DescribesTheService) {
  Start();
  hotspan_span_end(Span("x"));
  Spans();
  const auto resource = ReadResource(server_.WaitFor(1, "/v1/traces")[0].body);
  EXPECT_EQ(resource.at("service.name"), "c-test");
  EXPECT_EQ(resource.at("telemetry.sdk.name"), "libhotspan");
  EXPECT_EQ(resource.at("process.pid"), std::to_string(::getpid()));
}

TEST_F(CApiTest, ContinuesARemoteTraceAndPassesItOn) {
  Start();
  hotspan_span* const span = hotspan_span_start_remote(
      "serve", HOTSPAN_SERVER, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "vendor=1", nullptr, nullptr, 0);
  hotspan_span* const child = Span("child");
  char text[56];
  ASSERT_EQ(hotspan_traceparent(text), 1);
  hotspan_span_end(child);
  hotspan_span_end(span);
  const auto spans = Spans();
  const ReadSpan serve = spans.at("serve");
  EXPECT_EQ(serve.trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(serve.parent_id, "b7ad6b7169203331");
  EXPECT_EQ(serve.flags, 0x301u);
  EXPECT_EQ(serve.trace_state, "vendor=1");
  EXPECT_EQ(spans.at("child").flags, 0x101u);
  EXPECT_EQ(spans.at("child").trace_state, "vendor=1");
  EXPECT_EQ(std::string(text), "00-" + serve.trace_id + "-" + spans.at("child").span_id + "-01");
}

TEST_F(CApiTest, UnsampledParentIsPassedOnButNotRecorded) {
  Start();
  hotspan_span* const span = hotspan_span_start_remote(
      "quiet", HOTSPAN_SERVER, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", nullptr,
      nullptr, nullptr, 0);
  char text[56];
  ASSERT_EQ(hotspan_traceparent(text), 1);
  EXPECT_STREQ(text + 53, "00");
  hotspan_span_end(span);
  hotspan_span_end(Span("loud"));
  const auto spans = Spans();
  EXPECT_EQ(spans.size(), 1u);
  EXPECT_TRUE(spans.contains("loud"));
}

TEST_F(CApiTest, BadRemoteParentBeginsANewTrace) {
  Start();
  hotspan_span_end(
      hotspan_span_start_remote("x", HOTSPAN_SERVER, "nonsense", nullptr, nullptr, nullptr, 0));
  EXPECT_EQ(Spans().at("x").parent_id, "");
}

TEST_F(CApiTest, AttachedContextIsTheParent) {
  Start();
  hotspan_context context{};
  std::memset(context.trace_id, 0xab, sizeof(context.trace_id));
  std::memset(context.span_id, 0xcd, sizeof(context.span_id));
  context.trace_flags = 1;
  hotspan_ctx_attach(&context);
  hotspan_context current;
  ASSERT_EQ(hotspan_ctx_current(&current), 1);
  EXPECT_EQ(std::memcmp(&current, &context, sizeof(context)), 0);
  hotspan_span_end(Span("x"));
  hotspan_ctx_detach();
  EXPECT_EQ(hotspan_ctx_current(&current), 0);
  EXPECT_EQ(Spans().at("x").parent_id, "cdcdcdcdcdcdcdcd");
}

TEST_F(CApiTest, CountsSpans) {
  hotspan_stats before;
  hotspan_get_stats(&before);
  Start();
  for (int i = 0; i < 5; ++i) hotspan_span_end(Span("x"));
  Spans();
  hotspan_stats after;
  hotspan_get_stats(&after);
  EXPECT_EQ(after.spans_ended - before.spans_ended, 5u);
  EXPECT_EQ(after.spans_sent - before.spans_sent, 5u);
  EXPECT_EQ(after.spans_dropped, before.spans_dropped);
  EXPECT_STREQ(after.sampler, "off");
}

TEST_F(CApiTest, StartsAndStopsAgain) {
  Start();
  Start();
  hotspan_span* const open = Span("ends after the stop");
  hotspan_stop();
  hotspan_span_end(open);
  Start();
  hotspan_span_end(Span("second life"));
  EXPECT_TRUE(Spans().contains("second life"));
}

TEST_F(CApiTest, RefusesAnEndpointItCannotSpeakTo) {
  hotspan_options options{};
  options.size = sizeof(options);
  options.endpoint = "https://example.org";
  options.cpu_hz = -1;
  EXPECT_EQ(hotspan_start(&options), -1);
}

TEST_F(CApiTest, SpansOfManyThreadsAllArrive) {
  Start();
  constexpr int kThreads = 4;
  constexpr int kSpansEach = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kSpansEach; ++i) {
        hotspan_span_end(Span((std::to_string(t) + "/" + std::to_string(i)).c_str()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Spans().size(), static_cast<std::size_t>(kThreads * kSpansEach));
}

}  // namespace
}  // namespace hotspan::agent
