#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"
#include "query/traceql/ast.h"
#include "query/traceql/parser.h"

namespace hotspan::query::traceql {
namespace {

using testing::HasSubstr;

std::string Printed(const std::string& text) {
  const auto filter = ParseFilter(text);
  if (!filter) return "error: " + filter.error().message();
  return Print(*filter);
}

TEST(TraceqlParser, PrintsTheSameTree) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "{ }"},
      {"{ resource.service.name=\"shop\" }", "{ resource.service.name = \"shop\" }"},
      {"{ .a && .b && .c }", "{ .a && .b && .c }"},
      {"{ .a = 1 || .b = 2 && .c = 3 }", "{ (.a = 1 || .b = 2) && .c = 3 }"},
      {"{ .a && (.b && .c) }", "{ .a && (.b && .c) }"},
      {"{ !.a = true }", "{ !.a = true }"},
      {"{ !(.a = 1) }", "{ !(.a = 1) }"},
      {"{ .a = .b = true }", "{ (.a = .b) = true }"},
      {"{ span.\"a b\".c = 1 }", "{ span.\"a b.c\" = 1 }"},
      {"{ .\"x\\\"y\" != nil }", "{ .\"x\\\"y\" != nil }"},
      {"{ .a+1 = 2 }", "{ .a+1 = 2 }"},
      {"{ duration>1h30m }", "{ duration > 5400000000000ns }"},
      {"{ duration < -1.5s }", "{ duration < -1500000000ns }"},
      {"{ .d = 10\u00b5s }", "{ .d = 10000ns }"},
      {"{ .d = 1.5 && .e = 2.0 && .f = 1e30 }", "{ .d = 1.5 && .e = 2.0 && .f = 1e+30 }"},
      {"{ .i = minInt && .j = 0x10 }", "{ .i = minInt && .j = 16 }"},
      {"{ status = error && kind != server }", "{ status = error && kind != server }"},
      {"{ trace:id = \"ab\" && span:name = `x` }", "{ trace:id = \"ab\" && name = \"x\" }"},
      {"{ name =~ \"a.*\" // tail\n }", "{ name =~ \"a.*\" }"},
      {"{ /* c */ true }", "{ true }"},
      {"{ event.x = 1 && instrumentation:name = \"i\" }",
       "{ event.x = 1 && instrumentation:name = \"i\" }"},
      {"{ .s = \"\\x41\\u00e9\\n\\101\" }", "{ .s = \"A\u00e9\\nA\" }"},
  };
  for (const auto& [text, printed] : cases) {
    EXPECT_EQ(Printed(text), printed) << text;
    EXPECT_EQ(Printed(printed), printed);
  }
}

TEST(TraceqlParser, RefusesBrokenTextWithOffset) {
  const std::pair<const char*, std::size_t> cases[] = {
      {"", 0},
      {"{", 1},
      {"{ .a = }", 7},
      {"{ .a = 1", 8},
      {"{ foo = 1 }", 2},
      {"{ .a = \"x }", 7},
      {"{ (.a = 1 }", 10},
      {"{ .a = 1 } {", 11},
      {"{ . = 1 }", 2},
      {"{ .a = 12q }", 7},
      {"{ trace:name = 1 }", 2},
      {"{ .a = \"\\q\" }", 8},
      {"{ .a = 99999999999999999999 }", 7},
      {"{ .a @ 1 }", 5},
      {"{ foo.a = 1 }", 2},
  };
  for (const auto& [text, offset] : cases) {
    const auto filter = ParseFilter(text);
    ASSERT_FALSE(filter.has_value()) << text;
    EXPECT_EQ(filter.error().code(), Code::kInvalidArgument) << text;
    EXPECT_EQ(filter.error().offset(), offset) << text << ": " << filter.error().message();
  }
}

TEST(TraceqlParser, SaysWhatIsNotSupportedYet) {
  for (const char* text :
       {"{ .a = 1 } | count() > 2", "{ } | rate()", "{ .a } >> { .b }", "{ .a } && { .b }",
        "({ .a }) ", "{ .a + 1 = 2 }", "{ 2 * 3 = 6 }", "{ parent.x = 1 }", "{ -.a = 1 }",
        "{ } with (most_recent=true)", "count() > 1"}) {
    const auto filter = ParseFilter(text);
    ASSERT_FALSE(filter.has_value()) << text;
    EXPECT_EQ(filter.error().code(), Code::kUnimplemented) << text;
    EXPECT_THAT(filter.error().message(), HasSubstr("not supported yet"));
    EXPECT_TRUE(filter.error().offset().has_value());
  }
}

TEST(TraceqlCheck, RefusesOperandsThatDoNotFit) {
  for (const char* text :
       {"{ 1 }", "{ \"a\" }", "{ duration }", "{ duration = \"x\" }", "{ name > 3 }",
        "{ status > error }", "{ kind =~ \"s\" }", "{ duration =~ \"1\" }", "{ name =~ .a }",
        "{ name =~ \"(\" }", "{ name = nil }", "{ resource.service.name = nil }", "{ .a < nil }",
        "{ !1 }", "{ .a && 1 }", "{ true < false }", "{ status = server }"}) {
    const auto filter = ParseFilter(text);
    ASSERT_FALSE(filter.has_value()) << text;
    EXPECT_EQ(filter.error().code(), Code::kInvalidArgument) << text;
  }
}

TEST(TraceqlCheck, TakesMixedNumbersAndAttributes) {
  for (const char* text :
       {"{ 1 < 1h }", "{ duration > 5 }", "{ .a }", "{ true }", "{ .a = .b }", "{ status = 2 }",
        "{ nil = nil }", "{ .a != nil }", "{ nil = .a }", "{ name < \"b\" }",
        "{ !.a && !!(.b = 1) }", "{ traceDuration > 1.5 }"}) {
    EXPECT_TRUE(ParseFilter(text).has_value()) << text;
  }
}

TEST(TraceqlParser, BoundsNestingAndSize) {
  const auto nested = [](int depth) {
    return "{ " + std::string(static_cast<std::size_t>(depth), '(') + ".a" +
           std::string(static_cast<std::size_t>(depth), ')') + " }";
  };
  EXPECT_TRUE(ParseFilter(nested(limits::kQueryDepthMax)).has_value());
  EXPECT_FALSE(ParseFilter(nested(limits::kQueryDepthMax + 1)).has_value());
  EXPECT_FALSE(ParseFilter("{ " + std::string(100, '!') + ".a }").has_value());
  std::string alternating = "{ .a";
  for (int i = 0; i < 50; ++i) alternating += " && .b || .c";
  EXPECT_FALSE(ParseFilter(alternating + " }").has_value());
  std::string longer = "{ .a";
  for (int i = 0; i < 5000; ++i) longer += " || .b";
  EXPECT_TRUE(ParseFilter(longer + " }").has_value());
  EXPECT_FALSE(
      ParseFilter("{ .a = \"" + std::string(limits::kQueryBytesMax, 'x') + "\" }").has_value());
}

TEST(TraceqlIdentifier, TakesAttributesAndIntrinsicsOnly) {
  EXPECT_EQ(ParseIdentifier("resource.service.name")->scope, Scope::kResource);
  EXPECT_EQ(ParseIdentifier("span.\"a b\"")->name, "a b");
  EXPECT_EQ(ParseIdentifier(".x")->scope, Scope::kAny);
  EXPECT_EQ(ParseIdentifier("status")->intrinsic, Intrinsic::kStatus);
  EXPECT_FALSE(ParseIdentifier("1").has_value());
  EXPECT_FALSE(ParseIdentifier(".x = 1").has_value());
  EXPECT_FALSE(ParseIdentifier("").has_value());
}

TEST(ParseDurationNs, TakesBothForms) {
  EXPECT_EQ(ParseDurationNs("500ms").value(), 500'000'000);
  EXPECT_EQ(ParseDurationNs("1h30m").value(), 5'400'000'000'000);
  EXPECT_EQ(ParseDurationNs("2d").value(), 172'800'000'000'000);
  EXPECT_EQ(ParseDurationNs("1.5s").value(), 1'500'000'000);
  EXPECT_EQ(ParseDurationNs("0").value(), 0);
  for (const char* bad : {"", "5", "ms", "1x", "1s2", "999999999999999y", "-1s", "1..5s"}) {
    EXPECT_FALSE(ParseDurationNs(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace hotspan::query::traceql
