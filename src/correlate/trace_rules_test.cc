#include "correlate/trace_rules.h"

#include <gtest/gtest.h>

#include "correlate/test_world.h"

namespace hotspan::correlate {
namespace {

class TraceRulesTest : public testing::Test {
 protected:
  std::vector<Finding> Find(std::uint64_t span = 1) {
    world_.Write();
    auto read = world_.engine().ReadTrace(TenantId::kDefault, World::Trace(1), {});
    CHECK(read.has_value());
    const query::TraceTree tree = query::BuildTraceTree(read->spans);
    return FindInTrace(read->spans, tree, tree.Find(read->spans, World::Span(span)));
  }
  // `count` calls of `each_ms`, one after the other, below span 1.
  void AddCalls(int count, std::int64_t each_ms, bool same_statement = true) {
    for (int i = 0; i < count; ++i) {
      const std::string value = same_statement ? std::to_string(i) : "";
      const std::string table = same_statement ? "prefs" : "table" + std::string(1, char('a' + i));
      world_.Add(SpanSpec{
          .id = 10 + static_cast<std::uint64_t>(i),
          .parent = 1,
          .name = "SELECT",
          .begin_ms = i * (each_ms + 1),
          .end_ms = i * (each_ms + 1) + each_ms,
          .kind = SpanKind::kClient,
          .attributes = {{"db.query.text", "SELECT v FROM " + table + " WHERE id = " + value},
                         {"code.function.name", "UserRepository::FindByEmail"},
                         {"code.file.path", "/src/user_repository.cc"}},
          .code_line = 42});
    }
  }
  static const Finding* OfKind(const std::vector<Finding>& findings, std::string_view kind) {
    for (const Finding& finding : findings) {
      if (finding.kind == kind) return &finding;
    }
    return nullptr;
  }

  World world_;
};

TEST(NormalizeStatement, ReplacesLiteralsAndLists) {
  EXPECT_EQ(NormalizeStatement("SELECT * FROM t1 WHERE id = 42 AND name = 'O''Hara'"),
            "SELECT * FROM t1 WHERE id = ? AND name = ?");
  EXPECT_EQ(NormalizeStatement("select a  from b\n where c in (1, 2,3) ;"),
            "select a from b where c in (?)");
  EXPECT_EQ(NormalizeStatement("where a = $1 and b = :name and c = @x and d = ?2"),
            "where a = ? and b = ? and c = ? and d = ?");
  EXPECT_EQ(NormalizeStatement("x::text = 'open"), "x::text = ?");
  EXPECT_EQ(NormalizeStatement(""), "");
}

TEST_F(TraceRulesTest, NamesNPlusOneWithItsCallingLine) {
  world_.Add(SpanSpec{.id = 1, .end_ms = 600});
  AddCalls(50, 10);
  const auto findings = Find();
  const Finding* finding = OfKind(findings, "n_plus_one");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding, &findings.front());
  EXPECT_EQ(finding->location.function, "UserRepository::FindByEmail");
  EXPECT_EQ(finding->location.file, "/src/user_repository.cc");
  EXPECT_EQ(finding->location.line, 42);
  EXPECT_EQ(finding->severity, Severity::kHigh);
  EXPECT_EQ(finding->saves_high_ns, 490 * kMs);
  EXPECT_LE(finding->saves_low_ns, finding->saves_ns);
  EXPECT_LE(finding->saves_ns, finding->saves_high_ns);
  EXPECT_NE(finding->title.find("user_repository.cc:42"), std::string::npos) << finding->title;
  EXPECT_NE(finding->title.find("SELECT v FROM prefs WHERE id = ?"), std::string::npos);
}

TEST_F(TraceRulesTest, SeesNPlusOneBelowAnAncestorToo) {
  world_.Add(SpanSpec{.id = 2, .name = "GET /user", .end_ms = 700, .kind = SpanKind::kServer});
  world_.Add(SpanSpec{.id = 1, .parent = 2, .end_ms = 600});
  AddCalls(50, 10);
  EXPECT_NE(OfKind(Find(2), "n_plus_one"), nullptr);
}

TEST_F(TraceRulesTest, DifferentStatementsAreNoNPlusOne) {
  world_.Add(SpanSpec{.id = 1, .end_ms = 600});
  AddCalls(8, 10, false);
  EXPECT_EQ(OfKind(Find(), "n_plus_one"), nullptr);
}

TEST_F(TraceRulesTest, ParallelCallsAreNoNPlusOne) {
  world_.Add(SpanSpec{.id = 1, .end_ms = 100});
  for (std::uint64_t i = 0; i < 10; ++i) {
    world_.Add(SpanSpec{.id = 10 + i,
                        .parent = 1,
                        .name = "GET",
                        .begin_ms = 1,
                        .end_ms = 90,
                        .kind = SpanKind::kClient});
  }
  EXPECT_EQ(OfKind(Find(), "n_plus_one"), nullptr);
}

TEST_F(TraceRulesTest, InternalStepsAreNoCalls) {
  world_.Add(SpanSpec{.id = 1, .end_ms = 1000});
  for (std::uint64_t i = 0; i < 10; ++i) {
    const auto at = static_cast<std::int64_t>(i) * 100;
    world_.Add(
        SpanSpec{.id = 10 + i, .parent = 1, .name = "item", .begin_ms = at, .end_ms = at + 90});
  }
  EXPECT_TRUE(Find().empty());
}

TEST_F(TraceRulesTest, CheapRepeatedCallsAreNotUrgent) {
  world_.Add(SpanSpec{.id = 1, .end_ms = 600});
  AddCalls(6, 1);
  const auto findings = Find();
  for (const Finding& finding : findings) EXPECT_LT(finding.severity, Severity::kMedium);
}

TEST_F(TraceRulesTest, SequentialDifferentCallsAreAHintOnly) {
  world_.Add(SpanSpec{.id = 1, .name = "process", .end_ms = 100});
  world_.Add(SpanSpec{
      .id = 2, .parent = 1, .name = "a", .begin_ms = 0, .end_ms = 50, .kind = SpanKind::kClient});
  world_.Add(SpanSpec{
      .id = 3, .parent = 1, .name = "b", .begin_ms = 50, .end_ms = 90, .kind = SpanKind::kClient});
  const auto findings = Find();
  const Finding* finding = OfKind(findings, "sequential_calls_could_be_parallel");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saves_high_ns, 40 * kMs);
  EXPECT_EQ(finding->saves_low_ns, 0);
  EXPECT_EQ(finding->severity, Severity::kLow);
}

TEST_F(TraceRulesTest, FailedAttemptsAreRetriesAndTimeoutsAreNamed) {
  world_.Add(SpanSpec{.id = 1, .end_ms = 3100});
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto at = static_cast<std::int64_t>(i) * 1010;
    world_.Add(SpanSpec{.id = 2 + i,
                        .parent = 1,
                        .name = "pay",
                        .begin_ms = at,
                        .end_ms = at + 1000,
                        .kind = SpanKind::kClient,
                        .status = SpanStatus::kError});
  }
  const auto findings = Find();
  const Finding* finding = OfKind(findings, "retries");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saves_ns, 3000 * kMs);
  EXPECT_EQ(finding->severity, Severity::kHigh);
  EXPECT_NE(finding->fix.find("timeout"), std::string::npos);
}

TEST_F(TraceRulesTest, AWorkThatBeginsLateWasQueued) {
  world_.Add(SpanSpec{.id = 1, .name = "call", .end_ms = 100, .kind = SpanKind::kClient});
  world_.Add(SpanSpec{.id = 2,
                      .parent = 1,
                      .service = "other",
                      .name = "serve",
                      .begin_ms = 60,
                      .end_ms = 99,
                      .kind = SpanKind::kServer});
  const auto findings = Find();
  const Finding* finding = OfKind(findings, "queueing");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saves_ns, 59 * kMs);
  EXPECT_EQ(finding->saves_high_ns, 60 * kMs);
}

TEST_F(TraceRulesTest, AHealthyTraceHasNoFindings) {
  world_.Add(SpanSpec{.id = 1, .name = "GET /", .end_ms = 40, .kind = SpanKind::kServer});
  world_.Add(SpanSpec{.id = 2,
                      .parent = 1,
                      .name = "SELECT user",
                      .begin_ms = 5,
                      .end_ms = 8,
                      .kind = SpanKind::kClient});
  world_.Add(SpanSpec{.id = 3, .parent = 1, .name = "render", .begin_ms = 9, .end_ms = 39});
  EXPECT_TRUE(Find().empty());
}

}  // namespace
}  // namespace hotspan::correlate
