#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "base/result.h"
#include "base/utf8.h"

namespace hotspan {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Fail(Code::kInvalidArgument, "odd");
  return n / 2;
}

Result<int> Quarter(int n) {
  TRY_ASSIGN(const int half, Half(n));
  return Half(half);
}

TEST(Result, CarriesValuesAndErrorsThroughTry) {
  EXPECT_EQ(Quarter(8).value(), 2);
  const auto failed = Quarter(6);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Error(failed.error()).Within("quarter").message(), "quarter: odd");
}

TEST(Bytes, VarintsRoundTripAndStopAtTheEnd) {
  std::string out;
  const std::uint64_t values[] = {0, 1, 127, 128, 300, 1ull << 32, ~0ull};
  for (const auto value : values) AppendVarint(out, value);
  ByteReader reader(out);
  for (const auto value : values) EXPECT_EQ(reader.Varint(), value);
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_FALSE(reader.failed());
  EXPECT_EQ(reader.Varint(), 0u);
  EXPECT_TRUE(reader.failed());
}

TEST(Bytes, SizedRefusesALengthBeyondTheEnd) {
  std::string out;
  AppendVarint(out, ~0ull);
  out += "abc";
  ByteReader reader(out);
  EXPECT_EQ(reader.Sized(), "");
  EXPECT_TRUE(reader.failed());
}

TEST(Bytes, ZigZagRoundTrips) {
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(UnZigZag(ZigZag(value)), value);
  }
}

TEST(Utf8, TakesWhatTheStandardTakes) {
  EXPECT_TRUE(IsValidUtf8("plain text of more than eight bytes"));
  EXPECT_TRUE(IsValidUtf8("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"));
  EXPECT_FALSE(IsValidUtf8("\xc0\xaf"));          // overlong
  EXPECT_FALSE(IsValidUtf8("\xed\xa0\x80"));      // surrogate
  EXPECT_FALSE(IsValidUtf8("\xf4\x90\x80\x80"));  // above U+10FFFF
  EXPECT_FALSE(IsValidUtf8("cut \xe2\x82"));
  EXPECT_EQ(ReplaceInvalidUtf8("a\xff"
                               "b"),
            "a\xef\xbf\xbd"
            "b");
}

TEST(JsonWriter, WritesNestedValuesWithCommasAndEscapes) {
  JsonWriter json;
  json.BeginObject().Key("a\n").BeginArray().Number(1).Number(2.5).String("x\"\x01").EndArray();
  json.Key("b").Null().Key("t").DecimalString(-7).Key("o").BeginObject().EndObject().EndObject();
  EXPECT_EQ(json.text(), "{\"a\\n\":[1,2.5,\"x\\\"\\u0001\"],\"b\":null,\"t\":\"-7\",\"o\":{}}");
}

TEST(JsonWriter, ReplacesInvalidUtf8) {
  JsonWriter json;
  json.String("a\xff\xc3\xa9");
  EXPECT_EQ(json.text(), "\"a\xef\xbf\xbd\xc3\xa9\"");
}

TEST(Hash, IsTheStoredFunction) {
  // Stored identities are of this hash: these values hold for ever.
  EXPECT_EQ(HashOf(""), 0x2d06800538d394c2ull);
  EXPECT_EQ(Hash128Of("hotspan"), Hash128Of(std::string("hot") + "span"));
  EXPECT_NE(Hash128Of("a"), Hash128Of("b"));
}

}  // namespace
}  // namespace hotspan
