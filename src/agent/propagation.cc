#include "agent/propagation.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/limits.h"

namespace hotspan::agent {
namespace {

// Only lower-case digits count: the recommendation refuses upper-case ones.
int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

template <std::size_t kSize>
bool ParseHex(std::string_view text, std::array<std::uint8_t, kSize>& out) {
  if (text.size() != 2 * kSize) return false;
  for (std::size_t i = 0; i < kSize; ++i) {
    const int high = HexDigit(text[2 * i]);
    const int low = HexDigit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

char* WriteHex(const std::uint8_t* bytes, std::size_t size, char* out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (std::size_t i = 0; i < size; ++i) {
    *out++ = kDigits[bytes[i] >> 4];
    *out++ = kDigits[bytes[i] & 15];
  }
  return out;
}

std::string_view Trim(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool IsKeyCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '*' ||
         c == '/' || c == '@';
}

bool IsTracestateMember(std::string_view member) {
  const std::size_t equals = member.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals > 256) return false;
  const std::string_view key = member.substr(0, equals);
  const std::string_view value = member.substr(equals + 1);
  const bool lead_ok = (key[0] >= 'a' && key[0] <= 'z') || (key[0] >= '0' && key[0] <= '9');
  return lead_ok && std::ranges::all_of(key, IsKeyCharacter) && value.size() <= 256 &&
         std::ranges::all_of(value,
                             [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; });
}

// The tracestate without blanks and empty members; empty where any member is not one.
std::string NormalTracestate(std::string_view text) {
  if (text.size() > limits::kAgentTracestateBytesMax) return {};
  std::string out;
  std::vector<std::string_view> keys;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view member = Trim(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (member.empty()) continue;
    const std::string_view key = member.substr(0, member.find('='));
    if (!IsTracestateMember(member) || std::ranges::find(keys, key) != keys.end()) return {};
    keys.push_back(key);
    if (keys.size() > limits::kAgentTracestateMembersMax) return {};
    if (!out.empty()) out += ',';
    out += member;
  }
  return out;
}

}  // namespace

std::optional<SpanContext> ParseTraceparent(std::string_view traceparent,
                                            std::string_view tracestate) {
  const std::string_view text = Trim(traceparent);
  if (text.size() < kTraceparentSize) return std::nullopt;
  if (text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  std::array<std::uint8_t, 1> version{};
  if (!ParseHex(text.substr(0, 2), version) || version[0] == 0xff) return std::nullopt;
  // Later versions may append fields; this one may not.
  if (text.size() > kTraceparentSize && (version[0] == 0 || text[kTraceparentSize] != '-')) {
    return std::nullopt;
  }
  SpanContext context;
  std::array<std::uint8_t, 1> flags{};
  if (!ParseHex(text.substr(3, 32), context.trace_id) ||
      !ParseHex(text.substr(36, 16), context.span_id) || !ParseHex(text.substr(53, 2), flags)) {
    return std::nullopt;
  }
  if (!context.IsValid()) return std::nullopt;
  context.flags = static_cast<std::uint8_t>(flags[0] & kSampledFlag);
  context.remote = true;
  context.trace_state = NormalTracestate(tracestate);
  return context;
}

void WriteTraceparent(const SpanContext& context, char* out) {
  *out++ = '0';
  *out++ = '0';
  *out++ = '-';
  out = WriteHex(context.trace_id.data(), context.trace_id.size(), out);
  *out++ = '-';
  out = WriteHex(context.span_id.data(), context.span_id.size(), out);
  *out++ = '-';
  WriteHex(&context.flags, 1, out);
}

}  // namespace hotspan::agent
