#include "cli/cli.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/mutex.h"

namespace hotspan::cli {
namespace {

// Remembers calls and answers all alike.
struct FakeApi final : Api {
  struct State {
    Mutex mutex;
    std::vector<struct Call> calls;
    Result<Reply> reply = Reply{200, "{}"};
  };
  explicit FakeApi(State& s) : state(s) {}
  Result<Reply> Call(const struct Call& call) override {
    const MutexLock lock(state.mutex);
    state.calls.push_back(call);
    return state.reply;
  }
  State& state;
};

class CliTest : public testing::Test {
 protected:
  int Run(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    return cli::Run(arguments,
                    {out_, err_, [this](std::string) { return std::make_unique<FakeApi>(state_); },
                     [](const std::string& folder) -> Result<std::unique_ptr<Api>> {
                       return Fail(Code::kFailedPrecondition, folder + " is locked");
                     }});
  }

  FakeApi::State state_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(CliTest, NamesUnknownVerbsAndThoseThatExist) {
  EXPECT_EQ(Run({"explode"}), kExitUsage);
  EXPECT_NE(err_.str().find("unknown verb \"explode\""), std::string::npos);
  for (const char* verb :
       {"serve", "import", "explain", "flame", "traces", "bench-load", "version"}) {
    EXPECT_NE(err_.str().find(verb), std::string::npos) << verb;
  }
}

TEST_F(CliTest, RefusesUnknownFlagsInOneLine) {
  EXPECT_EQ(Run({"flame", "--colour"}), kExitUsage);
  const std::string text = err_.str();
  EXPECT_NE(text.find("--colour"), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(CliTest, PrintsTheVersion) {
  EXPECT_EQ(Run({"version"}), kExitFine);
  EXPECT_EQ(out_.str(), "hotspan 0.1.0\n");
}

TEST_F(CliTest, ListsTracesAsATable) {
  state_.reply = Reply{200, R"({"traces":[{"trace_id":"abc","root":{"service":"web","name":"GET /"},
    "start_ns":"1700000000000000000","duration_ns":812000000,"spans":14,
    "slowest":{"span_id":"def","service":"db","name":"query"}}]})"};
  EXPECT_EQ(Run({"traces", "list", "--service", "web", "--min-latency", "500ms", "--links"}),
            kExitFine);
  EXPECT_EQ(state_.calls[0].target,
            "/api/hotspan/v1/traces?service=web&min_duration=500ms&start=now-1h&limit=10");
  const std::string text = out_.str();
  EXPECT_NE(text.find("web GET /"), std::string::npos) << text;
  EXPECT_NE(text.find("812.0"), std::string::npos);
  EXPECT_NE(text.find("http://127.0.0.1:4040/trace/abc?span=def"), std::string::npos);
  state_.reply = Reply{200, R"({"traces":[]})"};
  EXPECT_EQ(Run({"traces", "list"}), kExitNo);
}

TEST_F(CliTest, ExplainsASpanAsText) {
  state_.reply = Reply{200, R"({"span":{"trace_id":"t","span_id":"s","service":"order",
    "name":"calculate","start_ns":"1700000000000000000","duration_ns":800000000},
    "baseline":{"p50_ns":400000000,"p95_ns":1,"n":150,"ratio":2.0},
    "ledger":{"duration_ns":800000000,"classes":[{"class":"on_cpu","ns":600000000,"low_ns":1,
    "high_ns":2,"source":"span","samples":56},{"class":"unobserved","ns":200000000,"low_ns":1,
    "high_ns":2,"source":"none","samples":0,"hint":"look here"}]},
    "profiles":[{"type":"cpu","tier":"span","mode":"self","samples":56,"total":100,"note":"",
    "flame":{"names":["total","hot"],"levels":[[0,100,0,0],[0,100,100,1]]},
    "top":[{"function":"hot","file":"h.cc","line":12,"self":100,"share":1.0,"share_low":0.9,
    "share_high":1.0}]}],"missing":[],
    "findings":[{"title":"hot is hot","severity":"high","fix":"cool it","location":{},
    "evidence":[{"text":"56 of 56"}]}]})"};
  EXPECT_EQ(Run({"explain", "t", "s"}), kExitFine);
  EXPECT_EQ(state_.calls[0].target, "/api/hotspan/v1/explain?trace_id=t&span_id=s&mode=self");
  for (const char* part :
       {"calculate  order  800 ms", "2.0 times the median of 150 spans", "on_cpu", "75 %",
        "look here", "h.cc:12", "1. [high] hot is hot", "fix: cool it"}) {
    EXPECT_NE(out_.str().find(part), std::string::npos) << part << "\nin\n" << out_.str();
  }
  EXPECT_EQ(Run({"explain", "t", "--output", "json"}), kExitFine);
  EXPECT_EQ(out_.str(), state_.reply->body + "\n");
}

TEST_F(CliTest, TellsMissingServersFromMissingTraces) {
  state_.reply = Fail(Code::kUnavailable, "can't reach it");
  EXPECT_EQ(Run({"explain", "t"}), kExitNoServer);
  state_.reply = Reply{404, R"({"error":{"code":"not_found","message":"no trace t"}})"};
  EXPECT_EQ(Run({"explain", "t"}), kExitNo);
  EXPECT_NE(err_.str().find("no trace t"), std::string::npos);
  state_.reply = Reply{400, R"({"error":{"message":"bad"}})"};
  EXPECT_EQ(Run({"explain", "t"}), kExitUsage);
  EXPECT_EQ(Run({"explain", "t", "--data-dir", "folder"}), kExitUsage);
  EXPECT_NE(err_.str().find("folder is locked"), std::string::npos);
}

TEST_F(CliTest, ImportsJsonLinesAsMessages) {
  const std::string path = testing::TempDir() + "hotspan_cli_test.jsonl";
  std::ofstream(path) << "{\"resourceSpans\":[]}\n{\"resourceSpans\":[]}\n";
  EXPECT_EQ(Run({"import", path}), kExitFine);
  ASSERT_EQ(state_.calls.size(), 2u);
  EXPECT_EQ(state_.calls[1].target, "/v1/traces");
  EXPECT_EQ(state_.calls[1].content_type, "application/json");
  std::ofstream(path) << "main;hot 30\n";
  EXPECT_EQ(Run({"import", path, "--service", "web"}), kExitFine);
  EXPECT_EQ(state_.calls[2].target, "/ingest?name=web");
  std::ofstream(path) << "???";
  EXPECT_EQ(Run({"import", path}), kExitUsage);
  EXPECT_EQ(Run({"import", "/nowhere/at-all"}), kExitUsage);
  std::remove(path.c_str());
}

TEST_F(CliTest, GeneratesLoad) {
  EXPECT_EQ(Run({"bench-load", "--spans", "1000", "--samples", "500", "--output", "json"}),
            kExitFine);
  EXPECT_NE(out_.str().find("\"spans\":1000,\"samples\":500,"), std::string::npos) << out_.str();
}

}  // namespace
}  // namespace hotspan::cli
