#include <gtest/gtest.h>

#include <coroutine>
#include <stdexcept>
#include <thread>

#include "agent/hotspan.hpp"
#include "agent/test_http_server.h"
#include "agent/test_otlp_reader.h"

namespace hotspan {
namespace {

class CppApiTest : public testing::Test {
 protected:
  std::map<std::string, agent::ReadSpan> Spans() {
    EXPECT_TRUE(agent_.Flush(agent::kPatienceMs));
    std::map<std::string, agent::ReadSpan> spans;
    for (const auto& request : server_.WaitFor(1, "/v1/traces")) {
      for (const auto& span : agent::ReadSpans(request.body)) spans[span.name] = span;
    }
    return spans;
  }

  agent::TestHttpServer server_;
  Agent agent_{{.service_name = "cpp-test",
                .service_version = "1",
                .endpoint = server_.Url(),
                .cpu_hz = -1,
                .verbose = false}};
};

TEST_F(CppApiTest, SpansNestByScope) {
  ASSERT_TRUE(agent_.started());
  std::string outer_id;
  {
    Span outer("outer");
    outer_id = outer.SpanId();
    {
      Span first("first");
    }
    {
      Span second("second");
      Span third = Span::Client("third");
    }
  }
  const auto spans = Spans();
  EXPECT_EQ(spans.at("outer").parent_id, "");
  EXPECT_EQ(spans.at("outer").span_id, outer_id);
  EXPECT_EQ(spans.at("first").parent_id, outer_id);
  EXPECT_EQ(spans.at("second").parent_id, outer_id);
  EXPECT_EQ(spans.at("third").parent_id, spans.at("second").span_id);
  EXPECT_EQ(spans.at("third").kind, HOTSPAN_CLIENT);
  for (const auto& [name, span] : spans) EXPECT_EQ(span.trace_id, spans.at("outer").trace_id);
}

TEST_F(CppApiTest, RecordsThePlaceInTheCode) {
  const int line = __LINE__ + 2;
  {
    Span span("here");
  }
  const auto attributes = Spans().at("here").attributes;
  EXPECT_EQ(attributes.at("code.line.number"), std::to_string(line));
  EXPECT_TRUE(attributes.at("code.file.path").ends_with("cpp_api_test.cc"));
  EXPECT_NE(attributes.at("code.function.name").find("TestBody"), std::string::npos);
}

TEST_F(CppApiTest, TakesValuesOfAllTypes) {
  {
    Span span("values");
    span.Set("text", "abc").Set("view", std::string_view("v")).Set("yes", true);
    span.Set("int", 7).Set("unsigned", 8u).Set("double", 0.25).Event("e").Error("m");
  }
  const auto span = Spans().at("values");
  EXPECT_EQ(span.attributes.at("text"), "abc");
  EXPECT_EQ(span.attributes.at("view"), "v");
  EXPECT_EQ(span.attributes.at("yes"), "true");
  EXPECT_EQ(span.attributes.at("int"), "7");
  EXPECT_EQ(span.attributes.at("unsigned"), "8");
  EXPECT_EQ(span.attributes.at("double"), "0.250000");
  EXPECT_EQ(span.events, std::vector<std::string>{"e"});
  EXPECT_EQ(span.status_message, "m");
}

TEST_F(CppApiTest, AnExceptionThroughItMarksASpanAsFailed) {
  try {
    Span span("thrown through");
    throw std::runtime_error("x");
  } catch (const std::runtime_error&) {
    Span span("while handling");
  }
  const auto spans = Spans();
  EXPECT_EQ(spans.at("thrown through").status, 2);
  EXPECT_EQ(spans.at("while handling").status, 0);
}

TEST_F(CppApiTest, MovesToAnotherThread) {
  std::string id;
  {
    Span span("request");
    id = span.SpanId();
    span.Detach();
    {
      Span other("not a child");
    }
    std::thread([moved = std::move(span)]() mutable {
      moved.Attach();
      Span child("child");
    }).join();
  }
  const auto spans = Spans();
  EXPECT_EQ(spans.at("not a child").parent_id, "");
  EXPECT_EQ(spans.at("child").parent_id, id);
  EXPECT_EQ(spans.at("request").span_id, id);
}

// The least coroutine type there is: starts at once, is resumed by its handle, frees itself.
struct Task {
  struct promise_type {
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

Task HandleRequest(const char* name, const char* child_name) {
  Span span(name);
  span.Detach();
  co_await std::suspend_always();
  span.Attach();
  Span child(child_name);
}

TEST_F(CppApiTest, CoroutinesTakeTheirSpanAlong) {
  const Task first = HandleRequest("first request", "first child");
  const Task second = HandleRequest("second request", "second child");
  EXPECT_EQ(Traceparent(), "");
  std::thread([&] { first.handle.resume(); }).join();
  second.handle.resume();
  EXPECT_EQ(Traceparent(), "");
  const auto spans = Spans();
  EXPECT_EQ(spans.at("second request").parent_id, "");
  EXPECT_EQ(spans.at("first child").parent_id, spans.at("first request").span_id);
  EXPECT_EQ(spans.at("second child").parent_id, spans.at("second request").span_id);
}

TEST_F(CppApiTest, TraceparentGoesFromCallerToServer) {
  std::string header;
  {
    Span client = Span::Client("call");
    header = Traceparent();
    EXPECT_EQ(header, "00-" + client.TraceId() + "-" + client.SpanId() + "-01");
  }
  EXPECT_EQ(Traceparent(), "");
  {
    Span served = Span::Server("serve", header);
  }
  const auto spans = Spans();
  EXPECT_EQ(spans.at("serve").parent_id, spans.at("call").span_id);
  EXPECT_EQ(spans.at("serve").kind, HOTSPAN_SERVER);
}

TEST_F(CppApiTest, ScopedContextIsTheParentInItsScope) {
  hotspan_context context{};
  context.trace_id[0] = context.span_id[0] = 0x5a;
  context.trace_flags = 1;
  {
    const ScopedContext scope(context);
    Span span("inside");
  }
  {
    Span span("outside");
  }
  const auto spans = Spans();
  EXPECT_EQ(spans.at("inside").parent_id, "5a00000000000000");
  EXPECT_EQ(spans.at("outside").parent_id, "");
}

}  // namespace
}  // namespace hotspan
