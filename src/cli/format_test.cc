#include "cli/format.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/flame_text.h"

namespace hotspan::cli {
namespace {

TEST(Format, WritesDurationsInTheirUnit) {
  EXPECT_EQ(FormatDuration(999), "999 ns");
  EXPECT_EQ(FormatDuration(1'500), "1.50 µs");
  EXPECT_EQ(FormatDuration(812'000'000), "812 ms");
  EXPECT_EQ(FormatDuration(2'800'000'000), "2.80 s");
}

TEST(Format, BuildsTargetsWithoutEmptyValues) {
  EXPECT_EQ(Target("/p", {{"a", "x y&"}, {"b", ""}, {"c", "é"}}), "/p?a=x%20y%26&c=%C3%A9");
}

TEST(Format, CutsByCodePoints) {
  EXPECT_EQ(Cut("ééééé", 5), "ééééé");
  EXPECT_EQ(Cut("éééééé", 5), "éééé…");
}

TEST(Format, AlignsTables) {
  Table table({"A", "N"});
  table.SetRight({false, true});
  table.Add({"long", "1"});
  table.Add({"é", "100"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(), "A       N\nlong    1\né     100\n");
}

TEST(FlameText, DrawsChildrenUnderTheirParents) {
  simdjson::dom::parser parser;
  Json flame;
  // total 100: main 100 with a 60 and b 40; a holds leaf 60.
  ASSERT_TRUE(ParseJson(parser,
                        R"({"names":["total","main","a","b","leaf"],"levels":[[0,100,0,0],
                        [0,100,0,1],[0,60,0,2,0,40,40,3],[0,60,60,4]],"total":100})",
                        flame));
  std::ostringstream out;
  PrintFlame(out, flame, 0.01, 50);
  const std::string text = out.str();
  EXPECT_NE(text.find("100 %  main\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" 60 %    a\n"), std::string::npos) << text;
  EXPECT_LT(text.find("leaf  (self 60 %)"), text.find("b  (self 40 %)")) << text;
}

}  // namespace
}  // namespace hotspan::cli
