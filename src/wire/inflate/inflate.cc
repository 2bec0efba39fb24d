#include "wire/inflate/inflate.h"

#include <libdeflate.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/bytes.h"

namespace hotspan::wire {
namespace {

// A deflate stream can't grow by more; a larger claim in a gzip trailer is a lie.
constexpr std::size_t kDeflateRatioMax = 1032;
// Zstandard frames that want a larger window than any message of ours are refused.
constexpr int kZstdWindowLogMax = 26;

struct DeflateFree {
  void operator()(libdeflate_decompressor* it) const { libdeflate_free_decompressor(it); }
};
struct ZstdFree {
  void operator()(ZSTD_DCtx* it) const { ZSTD_freeDCtx(it); }
};

tl::unexpected<Error> TooLarge(std::size_t limit) {
  return Fail(Code::kResourceExhausted,
              "body inflates to more than the limit of " + std::to_string(limit) + " bytes");
}

enum class Format { kGzip, kZlib, kRaw };

libdeflate_result RunDeflate(libdeflate_decompressor* tool, Format format, std::string_view in,
                             char* out, std::size_t room, std::size_t& used, std::size_t& made) {
  switch (format) {
    case Format::kGzip:
      return libdeflate_gzip_decompress_ex(tool, in.data(), in.size(), out, room, &used, &made);
    case Format::kZlib:
      return libdeflate_zlib_decompress_ex(tool, in.data(), in.size(), out, room, &used, &made);
    case Format::kRaw:
      return libdeflate_deflate_decompress_ex(tool, in.data(), in.size(), out, room, &used, &made);
  }
  return LIBDEFLATE_BAD_DATA;
}

std::size_t FirstGuess(Format format, std::string_view in, std::size_t limit) {
  std::size_t guess = std::max<std::size_t>(in.size() * 4, 4096);
  if (format == Format::kGzip && in.size() >= 18) {
    const std::size_t claim = LoadRaw<std::uint32_t>(in.data() + in.size() - 4);
    if (claim > 0 && claim / kDeflateRatioMax <= in.size()) guess = claim;
  }
  return std::min(guess, limit);
}

// Inflates one member at the front of `in` to the end of `out`, and takes it off `in`.
Status InflateMember(libdeflate_decompressor* tool, Format format, std::string_view& in,
                     std::size_t limit, std::string& out) {
  const std::size_t begin = out.size();
  std::size_t room = std::min(FirstGuess(format, in, limit), limit - begin);
  while (true) {
    out.resize(begin + room);
    std::size_t used = 0;
    std::size_t made = 0;
    switch (RunDeflate(tool, format, in, out.data() + begin, room, used, made)) {
      case LIBDEFLATE_SUCCESS:
        out.resize(begin + made);
        in.remove_prefix(used);
        return {};
      case LIBDEFLATE_INSUFFICIENT_SPACE:
        if (begin + room >= limit) return TooLarge(limit);
        room = std::min(std::max<std::size_t>(room * 4, 4096), limit - begin);
        break;
      default:
        return Fail(Code::kInvalidArgument, "compressed body is damaged or cut short");
    }
  }
}

Result<std::string> InflateDeflate(std::string_view in, Format format, std::size_t limit) {
  const std::unique_ptr<libdeflate_decompressor, DeflateFree> tool(libdeflate_alloc_decompressor());
  if (!tool) return Fail(Code::kResourceExhausted, "no memory to inflate");
  std::string out;
  do {
    TRY(InflateMember(tool.get(), format, in, limit, out));
  } while (format == Format::kGzip && IsGzip(in));
  return out;
}

Result<std::string> InflateZstd(std::string_view in, std::size_t limit) {
  const std::unique_ptr<ZSTD_DCtx, ZstdFree> tool(ZSTD_createDCtx());
  if (!tool) return Fail(Code::kResourceExhausted, "no memory to inflate");
  ZSTD_DCtx_setParameter(tool.get(), ZSTD_d_windowLogMax, kZstdWindowLogMax);
  std::string out;
  ZSTD_inBuffer input{in.data(), in.size(), 0};
  std::size_t made = 0;
  while (true) {
    if (out.size() == made) {
      // One byte beyond the limit tells a body of exactly that size from a larger one.
      const std::size_t grown =
          std::max<std::size_t>(made * 2, std::max<std::size_t>(in.size() * 4, 4096));
      out.resize(std::min(grown, limit + 1));
    }
    ZSTD_outBuffer output{out.data() + made, out.size() - made, 0};
    const std::size_t rest = ZSTD_decompressStream(tool.get(), &output, &input);
    made += output.pos;
    if (ZSTD_isError(rest) != 0) {
      return Fail(Code::kInvalidArgument, "compressed body is damaged");
    }
    if (made > limit) return TooLarge(limit);
    const bool stuck = output.pos < output.size && input.pos == input.size;
    if (rest == 0 && input.pos == input.size) break;
    if (stuck) return Fail(Code::kInvalidArgument, "compressed body is cut short");
  }
  out.resize(made);
  return out;
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
  });
}

}  // namespace

bool IsGzip(std::string_view body) {
  return body.size() >= 3 && body.substr(0, 3) == std::string_view("\x1f\x8b\x08", 3);
}

Result<std::string> Inflate(std::string_view body, std::string_view content_encoding,
                            std::size_t limit) {
  if (content_encoding.empty() || EqualsIgnoringCase(content_encoding, "identity")) {
    if (body.size() > limit) {
      return Fail(Code::kResourceExhausted,
                  "body is larger than the limit of " + std::to_string(limit) + " bytes");
    }
    return std::string(body);
  }
  if (EqualsIgnoringCase(content_encoding, "gzip") ||
      EqualsIgnoringCase(content_encoding, "x-gzip")) {
    return InflateDeflate(body, Format::kGzip, limit);
  }
  if (EqualsIgnoringCase(content_encoding, "deflate")) {
    auto zlib = InflateDeflate(body, Format::kZlib, limit);
    if (zlib || zlib.error().code() != Code::kInvalidArgument) return zlib;
    // Some clients send the stream without zlib's header.
    return InflateDeflate(body, Format::kRaw, limit);
  }
  if (EqualsIgnoringCase(content_encoding, "zstd")) return InflateZstd(body, limit);
  return Fail(Error(Code::kInvalidArgument,
                    "content encoding is not supported; send identity, gzip, deflate or zstd")
                  .Field("content-encoding"));
}

}  // namespace hotspan::wire
