#include "ingest/multipart.h"

#include <gtest/gtest.h>

namespace hotspan::ingest {
namespace {

constexpr std::string_view kType = "multipart/form-data; boundary=xyz";

TEST(Multipart, FindsParts) {
  const auto parts =
      ParseMultipart(kType,
                     "preamble\r\n--xyz\r\nContent-Disposition: form-data; filename=\"f.name\"; "
                     "name=\"profile\"\r\n"
                     "Content-Type: application/octet-stream\r\n\r\n\x01\r\n--xy\r\n--xyz\r\n"
                     "content-disposition: form-data; name=labels\r\n\r\n\r\n--xyz--\r\n");
  ASSERT_TRUE(parts) << parts.error().message();
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_EQ((*parts)[0].name, "profile");
  EXPECT_EQ((*parts)[0].bytes, "\x01\r\n--xy");
  EXPECT_EQ((*parts)[1].name, "labels");
  EXPECT_EQ((*parts)[1].bytes, "");
}

TEST(Multipart, TakesQuotedBoundaries) {
  const auto parts =
      ParseMultipart("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\"",
                     "--a b\r\nContent-Disposition: form-data; name=\"p\"\r\n\r\nx\r\n--a b--");
  ASSERT_TRUE(parts) << parts.error().message();
  EXPECT_EQ(parts->at(0).bytes, "x");
}

TEST(Multipart, RefusesBodiesThatAreNone) {
  for (const std::string_view body :
       {"", "--xyz", "--xyz\r\nContent-Disposition: form-data; name=\"p\"", "nothing",
        "--xyz\r\nContent-Disposition: form-data; name=\"p\"\r\n\r\nno end"}) {
    EXPECT_FALSE(ParseMultipart(kType, body)) << body;
  }
  EXPECT_FALSE(ParseMultipart("multipart/form-data", "--xyz--"));
}

TEST(Multipart, LimitsParts) {
  std::string body = "--xyz";
  for (std::size_t i = 0; i <= kPartsMax; ++i) body += "\r\nA: b\r\n\r\nx\r\n--xyz";
  EXPECT_FALSE(ParseMultipart(kType, body + "--"));
}

TEST(Multipart, KnowsItsContentType) {
  EXPECT_TRUE(IsMultipart(kType));
  EXPECT_FALSE(IsMultipart("application/octet-stream"));
}

}  // namespace
}  // namespace hotspan::ingest
