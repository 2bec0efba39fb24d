#include <time.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "agent/http_client.h"
#include "agent/time_now.h"

namespace hotspan::agent {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // zlib's way to ask for a gzip header
constexpr int kMemoryLevel = 8;           // zlib's default

// "Sun, 06 Nov 1994 08:49:37 GMT", without the C library's locale.
std::optional<std::int64_t> ParseHttpDate(std::string_view text) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
  const std::size_t month = kMonths.find(text.substr(8, 3));
  if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t size) {
    int value = -1;
    std::from_chars(text.data() + at, text.data() + at + size, value);
    return value;
  };
  tm parts{};
  parts.tm_mday = number(5, 2);
  parts.tm_mon = static_cast<int>(month / 3);
  parts.tm_year = number(12, 4) - 1900;
  parts.tm_hour = number(17, 2);
  parts.tm_min = number(20, 2);
  parts.tm_sec = number(23, 2);
  if (parts.tm_mday < 1 || parts.tm_year < 0 || parts.tm_hour < 0 || parts.tm_min < 0 ||
      parts.tm_sec < 0) {
    return std::nullopt;
  }
  return std::int64_t{::timegm(&parts)};
}

}  // namespace

std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  // The fastest level: the size falls most with it, and the CPU is the program's.
  if (::deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindowBits, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  std::string out(::deflateBound(&stream, bytes.size()), '\0');
  // zlib's input pointer is not const unless asked for; it only reads.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = ::deflate(&stream, Z_FINISH);
  out.resize(status == Z_STREAM_END ? stream.total_out : 0);
  ::deflateEnd(&stream);
  return out;
}

std::optional<std::int64_t> ParseRetryAfter(std::string_view value, std::int64_t now_ns) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error == std::errc() && end == value.data() + value.size() && seconds >= 0) return seconds;
  const std::optional<std::int64_t> date = ParseHttpDate(value);
  if (!date) return std::nullopt;
  return std::max<std::int64_t>(*date - now_ns / kNsPerSecond, 0);
}

}  // namespace hotspan::agent
