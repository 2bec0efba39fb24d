#include "query/eval.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "query/test_store.h"
#include "query/traceql/parser.h"

namespace hotspan::query {
namespace {

SpanFilter FilterOf(const std::string& text) {
  auto filter = traceql::ParseFilter(text);
  EXPECT_TRUE(filter.has_value()) << text << ": " << filter.error().message();
  auto compiled = SpanFilter::Compile(std::make_shared<traceql::Filter>(*std::move(filter)));
  return *std::move(compiled);
}

// One trace: root (shop), its child under test (1) and a child of that.
class EvalTest : public testing::Test {
 protected:
  EvalTest() {
    std::string array;
    ValueWriter values(array);
    values.Add(Value::String("red"));
    values.Add(Value::String("blue"));
    TestSpan child{.id = "2",
                   .parent = "1",
                   .service = "cart",
                   .name = "GET /cart",
                   .start_ms = 5,
                   .duration_ms = 20,
                   .kind = SpanKind::kServer,
                   .status = SpanStatus::kError,
                   .attributes = {{"http.status_code", std::int64_t{500}},
                                  {"ratio", 0.5},
                                  {"cached", true},
                                  {"zone", "eu"},
                                  {"off", false}},
                   .resource = {{"zone", "us"}, {"host", "h1"}}};
    batch_ = MakeTestBatch({{.name = "root op", .duration_ms = 100},
                            child,
                            {.id = "3", .parent = "2", .service = "db", .start_ms = 6}});
    std::string packed(batch_.Text(batch_.spans[1].attributes));
    AttributeWriter(packed).Add("colors", Value::Array(array));
    batch_.spans[1].attributes = batch_.Add(packed);
    batch_.spans[1].status_message = batch_.Add("boom");
    std::string events;
    std::string attributes;
    AttributeWriter(attributes).Add("code", Value::Int(7));
    SpanEvent event;
    event.time = batch_.spans[1].start + DurationNs{2'000'000};
    event.name = "exception";
    event.attributes = AttributeList(attributes);
    AppendEvent(events, event);
    event.name = "retry";
    event.attributes = AttributeList();
    AppendEvent(events, event);
    batch_.spans[1].events = batch_.Add(events);
    std::string links;
    SpanLink link;
    link.trace_id = *TraceId::FromHex("ab");
    link.span_id = *SpanId::FromHex("cd");
    AppendLink(links, link);
    batch_.spans[1].links = batch_.Add(links);
  }

  bool Matches(const std::string& text) {
    const TraceView view(batch_);
    return FilterOf(text).Matches(view, 1);
  }

  SpanBatch batch_;
};

TEST_F(EvalTest, MatchesFieldsAndAttributes) {
  for (const char* text :
       {"{ }",
        "{ true }",
        "{ name = \"GET /cart\" }",
        "{ duration = 20ms }",
        "{ 10ms < duration }",
        "{ status = error }",
        "{ status = 2 }",
        "{ kind = server }",
        "{ statusMessage = \"boom\" }",
        "{ resource.service.name = \"cart\" }",
        "{ .service.name = \"cart\" }",
        "{ span.http.status_code >= 500 }",
        "{ .http.status_code > 499.5 }",
        "{ .ratio < 1 }",
        "{ .cached }",
        "{ .cached = true }",
        "{ !.off }",
        "{ .zone = \"eu\" }",
        "{ resource.zone = \"us\" }",
        "{ .host = \"h1\" }",
        "{ .host = .host }",
        "{ span.zone != resource.zone }",
        "{ .zone < \"ev\" }",
        "{ duration > 19999999.5 }",
        "{ instrumentation:name = \"test.scope\" && instrumentation:version = \"1.2\" }"}) {
    EXPECT_TRUE(Matches(text)) << text;
  }
  for (const char* text :
       {"{ false }", "{ name = \"GET\" }", "{ .zone = \"us\" }", "{ .off }", "{ .zone }",
        "{ .http.status_code = \"500\" }", "{ .zone > 3 }", "{ .host = .zone }",
        "{ span.host = \"h1\" }", "{ resource.service.name != \"cart\" }"}) {
    EXPECT_FALSE(Matches(text)) << text;
  }
}

TEST_F(EvalTest, MissingAttributeSatisfiesNoComparisonButNil) {
  for (const char* text :
       {"{ .gone = 1 }", "{ .gone != 1 }", "{ .gone !~ \"x\" }", "{ .gone != nil }", "{ .gone }",
        "{ nil = nil }", "{ nil != nil }", "{ .zone = nil }"}) {
    EXPECT_FALSE(Matches(text)) << text;
  }
  for (const char* text :
       {"{ .gone = nil }", "{ nil = .gone }", "{ .zone != nil }", "{ !(.gone = 1) }"}) {
    EXPECT_TRUE(Matches(text)) << text;
  }
}

TEST_F(EvalTest, RegexIsAnchoredAndDotTakesNewlines) {
  EXPECT_TRUE(Matches("{ name =~ \"GET.*\" }"));
  EXPECT_FALSE(Matches("{ name =~ \"cart\" }"));
  EXPECT_TRUE(Matches("{ name !~ \"cart\" }"));
  EXPECT_FALSE(Matches("{ .http.status_code =~ \"5..\" }"));
}

TEST_F(EvalTest, AndOrShareOneLevelFromTheLeft) {
  EXPECT_FALSE(Matches("{ true || true && false }"));
  EXPECT_TRUE(Matches("{ true || (true && false) }"));
}

TEST_F(EvalTest, ArraysMatchByAnyElementAndDifferByAll) {
  EXPECT_TRUE(Matches("{ .colors = \"blue\" }"));
  EXPECT_TRUE(Matches("{ .colors =~ \"re.\" }"));
  EXPECT_FALSE(Matches("{ .colors != \"blue\" }"));
  EXPECT_TRUE(Matches("{ .colors != \"green\" }"));
}

TEST_F(EvalTest, EventsAndLinksMatchByAny) {
  EXPECT_TRUE(Matches("{ event:name = \"retry\" }"));
  EXPECT_TRUE(Matches("{ event:timeSinceStart = 2ms }"));
  EXPECT_TRUE(Matches("{ event.code = 7 && event.code = nil }"));
  EXPECT_TRUE(Matches("{ link:traceID = \"AB\" && link:spanID = \"00cd\" }"));
  EXPECT_FALSE(Matches("{ link.x != nil }"));
}

TEST_F(EvalTest, IdsIgnoreLeadingZerosAndCase) {
  EXPECT_TRUE(Matches("{ trace:id = \"01\" && span:id = \"2\" && span:parentID = \"0001\" }"));
  EXPECT_FALSE(Matches("{ span:id = \"nothex\" }"));
}

TEST_F(EvalTest, TraceLevelIntrinsicsReadTheWholeTrace) {
  for (const char* text :
       {"{ rootName = \"root op\" }", "{ rootServiceName = \"shop\" }", "{ traceDuration = 100ms }",
        "{ trace:duration > 99ms }", "{ span:childCount = 1 }", "{ nestedSetParent = 1 }",
        "{ nestedSetLeft = 2 && nestedSetRight = 5 }"}) {
    EXPECT_TRUE(Matches(text)) << text;
    EXPECT_TRUE(FilterOf(text).needs_trace());
  }
  const TraceView view(batch_);
  const SpanFilter roots = FilterOf("{ nestedSetParent < 0 }");
  EXPECT_TRUE(roots.Matches(view, 0));
  EXPECT_FALSE(roots.Matches(view, 1));
}

TEST_F(EvalTest, MightMatchLooksAtTheSpanAlone) {
  const SpanRow& span = batch_.spans[1];
  EXPECT_TRUE(FilterOf("{ rootName = \"x\" && .zone = \"eu\" }").MightMatch(batch_, span));
  EXPECT_FALSE(FilterOf("{ rootName = \"x\" && .zone = \"us\" }").MightMatch(batch_, span));
  EXPECT_TRUE(FilterOf("{ rootName = \"x\" || .zone = \"us\" }").MightMatch(batch_, span));
  EXPECT_TRUE(FilterOf("{ .zone = \"eu\" }").needs_wide());
  EXPECT_FALSE(FilterOf("{ resource.service.name = \"a\" && name = \"b\" }").needs_wide());
}

TEST(TraceView, SurvivesCyclesAndMissingRoots) {
  const SpanBatch batch = MakeTestBatch({{.id = "1", .parent = "2"},
                                         {.id = "2", .parent = "1"},
                                         {.id = "3", .parent = "3"},
                                         {.id = "4", .parent = "9"}});
  const TraceView view(batch);
  EXPECT_EQ(view.root(), nullptr);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(view.nested_left(i), 0);
  const SpanBatch empty;
  EXPECT_EQ(TraceView(empty).duration().ns, 0);
}

}  // namespace
}  // namespace hotspan::query
