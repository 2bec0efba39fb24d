#include "serve/http/message.h"

namespace hotspan::serve {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string_view Request::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

Response TextResponse(int status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text), {}};
}

Response JsonResponse(std::string json) { return {200, "application/json", std::move(json), {}}; }

bool DecodePercent(std::string_view text, bool plus_is_space, std::string& out) {
  out.clear();
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%') {
      if (at + 2 >= text.size()) return false;
      const int high = HexDigit(text[at + 1]);
      const int low = HexDigit(text[at + 2]);
      if (high < 0 || low < 0) return false;
      out.push_back(static_cast<char>(high * 16 + low));
      at += 2;
    } else {
      out.push_back(plus_is_space && text[at] == '+' ? ' ' : text[at]);
    }
  }
  return true;
}

std::string EncodePercent(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
  return out;
}

bool SetTarget(Request& request, std::string_view target) {
  const std::size_t mark = target.find('?');
  request.path = std::string(target.substr(0, mark));
  request.query.clear();
  if (mark == std::string_view::npos) return true;
  std::string_view rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const std::size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    std::string key;
    std::string value;
    if (!DecodePercent(pair.substr(0, equals), true, key)) return false;
    if (equals != std::string_view::npos && !DecodePercent(pair.substr(equals + 1), true, value)) {
      return false;
    }
    request.query.emplace_back(std::move(key), std::move(value));
  }
  return true;
}

std::string_view TrimSpace(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::string ToLowerAscii(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string MediaType(std::string_view content_type) {
  return ToLowerAscii(TrimSpace(content_type.substr(0, content_type.find(';'))));
}

}  // namespace hotspan::serve
