#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <string>

#include "agent/hotspan.hpp"
#include "agent/test_http_server.h"
#include "agent/test_otlp_reader.h"

namespace hotspan {
namespace {

// Runs `child` in a forked process; its exit code.
template <typename Child>
int InChild(Child&& child) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(child());
  int status = -1;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class ForkTest : public testing::Test {
 protected:
  std::vector<agent::ReadSpan> Spans(std::size_t requests) {
    std::vector<agent::ReadSpan> all;
    for (const auto& request : server_.WaitFor(requests, "/v1/traces")) {
      for (const auto& span : agent::ReadSpans(request.body)) all.push_back(span);
    }
    return all;
  }

  agent::TestHttpServer server_;
  Agent agent_{{.service_name = "fork-test",
                .service_version = {},
                .endpoint = server_.Url(),
                .cpu_hz = -1,
                .verbose = false}};
};

TEST_F(ForkTest, ChildSendsItsOwnSpansOnly) {
  {
    Span span("of the parent");
  }
  EXPECT_EQ(InChild([] {
              {
                Span span("of the child");
              }
              const bool sent = hotspan_flush(agent::kPatienceMs) == 0;
              hotspan_stop();
              return sent ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(agent_.Flush(agent::kPatienceMs));
  std::multiset<std::string> names;
  for (const auto& span : Spans(2)) names.insert(span.name);
  EXPECT_EQ(names, (std::multiset<std::string>{"of the child", "of the parent"}));
}

TEST_F(ForkTest, ChildIsAnotherServiceInstance) {
  {
    Span span("a");
  }
  EXPECT_TRUE(agent_.Flush(agent::kPatienceMs));
  InChild([] {
    {
      Span span("b");
    }
    return hotspan_flush(agent::kPatienceMs);
  });
  const auto requests = server_.WaitFor(2, "/v1/traces");
  const auto first = agent::ReadResource(requests[0].body);
  const auto second = agent::ReadResource(requests[1].body);
  EXPECT_NE(first.at("process.pid"), second.at("process.pid"));
  EXPECT_NE(first.at("service.instance.id"), second.at("service.instance.id"));
  EXPECT_EQ(first.at("service.name"), second.at("service.name"));
}

TEST_F(ForkTest, OpenSpanIsParentInTheChildButEndsInTheParent) {
  std::string id;
  {
    Span open("open");
    id = open.SpanId();
    InChild([&] {
      {
        Span inside("inside");
      }
      {
        const Span ended_here = std::move(open);
      }
      return hotspan_flush(agent::kPatienceMs);
    });
  }
  EXPECT_TRUE(agent_.Flush(agent::kPatienceMs));
  int open_count = 0;
  for (const auto& span : Spans(2)) {
    if (span.name == "inside") {
      EXPECT_EQ(span.parent_id, id);
    }
    open_count += span.name == "open" ? 1 : 0;
  }
  EXPECT_EQ(open_count, 1);
}

TEST_F(ForkTest, IdsDifferBetweenParentAndChild) {
  {
    Span span("seeds the generator");
  }
  InChild([] {
    {
      Span span("x");
    }
    return hotspan_flush(agent::kPatienceMs);
  });
  {
    Span span("x");
  }
  EXPECT_TRUE(agent_.Flush(agent::kPatienceMs));
  std::set<std::string> ids;
  const auto spans = Spans(2);
  for (const auto& span : spans) ids.insert(span.span_id);
  EXPECT_EQ(spans.size(), 3u);
  EXPECT_EQ(ids.size(), 3u);
}

TEST_F(ForkTest, ChildThatMakesNoSpanEndsQuietly) {
  EXPECT_EQ(InChild([] {
              hotspan_stop();
              return 0;
            }),
            0);
  EXPECT_TRUE(agent_.Flush(agent::kPatienceMs));
}

}  // namespace
}  // namespace hotspan
