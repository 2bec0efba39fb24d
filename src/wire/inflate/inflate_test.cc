#include "wire/inflate/inflate.h"

#include <gtest/gtest.h>
#include <libdeflate.h>
#include <zstd.h>

namespace hotspan::wire {
namespace {

enum class Kind { kGzip, kZlib, kRaw };

std::string Deflate(Kind kind, std::string_view text) {
  libdeflate_compressor* tool = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_gzip_compress_bound(tool, text.size()) + 64, '\0');
  std::size_t size = 0;
  if (kind == Kind::kGzip) {
    size = libdeflate_gzip_compress(tool, text.data(), text.size(), out.data(), out.size());
  } else if (kind == Kind::kZlib) {
    size = libdeflate_zlib_compress(tool, text.data(), text.size(), out.data(), out.size());
  } else {
    size = libdeflate_deflate_compress(tool, text.data(), text.size(), out.data(), out.size());
  }
  libdeflate_free_compressor(tool);
  out.resize(size);
  return out;
}

std::string Zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string Sample(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) text += std::to_string(i * 2654435761u);
  text.resize(size);
  return text;
}

TEST(Inflate, KeepsIdentityWithinTheLimit) {
  EXPECT_EQ(Inflate("abc", "", 3).value(), "abc");
  EXPECT_EQ(Inflate("abc", "identity", 3).value(), "abc");
  EXPECT_EQ(Inflate("abcd", "", 3).error().code(), Code::kResourceExhausted);
}

TEST(Inflate, UndoesEveryEncoding) {
  for (const std::size_t size : {0u, 1u, 100u, 5000u, 300'000u}) {
    const std::string text = Sample(size);
    EXPECT_EQ(Inflate(Deflate(Kind::kGzip, text), "gzip", 1 << 20).value(), text);
    EXPECT_EQ(Inflate(Deflate(Kind::kGzip, text), "GZIP", 1 << 20).value(), text);
    EXPECT_EQ(Inflate(Deflate(Kind::kZlib, text), "deflate", 1 << 20).value(), text);
    EXPECT_EQ(Inflate(Deflate(Kind::kRaw, text), "deflate", 1 << 20).value(), text);
    EXPECT_EQ(Inflate(Zstd(text), "zstd", 1 << 20).value(), text);
  }
}

TEST(Inflate, JoinsGzipMembersAndZstdFrames) {
  const std::string a = Sample(5000), b = Sample(70);
  EXPECT_EQ(Inflate(Deflate(Kind::kGzip, a) + Deflate(Kind::kGzip, b), "gzip", 1 << 20).value(),
            a + b);
  EXPECT_EQ(Inflate(Zstd(a) + Zstd(b), "zstd", 1 << 20).value(), a + b);
}

TEST(Inflate, TakesExactlyTheLimitAndNoByteMore) {
  const std::string text(100'000, 'x');
  for (const auto& [body, encoding] :
       {std::pair(Deflate(Kind::kGzip, text), "gzip"),
        std::pair(Deflate(Kind::kZlib, text), "deflate"), std::pair(Zstd(text), "zstd")}) {
    EXPECT_EQ(Inflate(body, encoding, text.size()).value(), text) << encoding;
    const auto refused = Inflate(body, encoding, text.size() - 1);
    ASSERT_FALSE(refused) << encoding;
    EXPECT_EQ(refused.error().code(), Code::kResourceExhausted) << encoding;
    EXPECT_NE(refused.error().message().find("99999"), std::string::npos) << encoding;
  }
}

TEST(Inflate, RefusesBodiesCutShort) {
  const std::string text = Sample(50'000);
  for (const auto& [body, encoding] :
       {std::pair(Deflate(Kind::kGzip, text), "gzip"),
        std::pair(Deflate(Kind::kZlib, text), "deflate"), std::pair(Zstd(text), "zstd")}) {
    for (const std::size_t size : {body.size() - 1, body.size() / 2, std::size_t{2}}) {
      const auto refused = Inflate(std::string_view(body).substr(0, size), encoding, 1 << 20);
      ASSERT_FALSE(refused) << encoding << " " << size;
      EXPECT_EQ(refused.error().code(), Code::kInvalidArgument);
    }
  }
}

TEST(Inflate, RefusesEmptyBodiesOfAnEncoding) {
  for (const char* encoding : {"gzip", "deflate"}) {
    EXPECT_FALSE(Inflate("", encoding, 100)) << encoding;
  }
}

TEST(Inflate, NamesAnEncodingItDoesNotKnow) {
  const auto refused = Inflate("abc", "br", 100);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field(), "content-encoding");
}

}  // namespace
}  // namespace hotspan::wire
