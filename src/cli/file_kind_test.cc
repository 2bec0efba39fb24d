#include "cli/file_kind.h"

#include <gtest/gtest.h>

namespace hotspan::cli {
namespace {

TEST(FileKind, TellsJsonByItsKeys) {
  EXPECT_EQ(KindOf(R"( {"resourceSpans":[]})"), FileKind::kTracesJson);
  EXPECT_EQ(KindOf(R"({"dictionary":{},"resourceProfiles":[]})"), FileKind::kProfilesJson);
  EXPECT_EQ(KindOf(R"({"a":1})"), FileKind::kUnknown);
}

TEST(FileKind, TellsProtobufByItsFields) {
  EXPECT_EQ(KindOf(std::string_view("\x0a\x02\x0a\x00", 4)), FileKind::kTracesProto);
  EXPECT_EQ(KindOf(std::string_view("\x0a\x00\x12\x00", 4)), FileKind::kProfilesProto);
  EXPECT_EQ(KindOf(std::string_view("\x0a\x00\x12\x00\x32\x00", 6)), FileKind::kPprof);
}

TEST(FileKind, TellsFoldedStacksByTheirFirstLine) {
  EXPECT_EQ(KindOf("main;work;hot loop 30\nmain 1\n"), FileKind::kFolded);
  EXPECT_EQ(KindOf("main;work\n"), FileKind::kUnknown);
  EXPECT_EQ(KindOf("Hello world"), FileKind::kUnknown);
  EXPECT_EQ(KindOf(""), FileKind::kUnknown);
}

}  // namespace
}  // namespace hotspan::cli
