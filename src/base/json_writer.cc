#include "base/json_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "base/utf8.h"

namespace hotspan {

void AppendJsonEscaped(std::string& out, std::string_view text) {
  std::size_t plain_from = 0;
  const auto flush = [&](std::size_t to) { out.append(text, plain_from, to - plain_from); };
  std::size_t at = 0;
  while (at < text.size()) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\') {
      ++at;
      continue;
    }
    if (byte >= 0x80) {
      const std::size_t size = Utf8SequenceSize(text, at);
      if (size > 0) {
        at += size;
        continue;
      }
    }
    flush(at);
    ++at;
    plain_from = at;
    switch (byte) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (byte < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
        } else {
          out += "\xef\xbf\xbd";
        }
    }
  }
  flush(at);
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  out_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  out_ += bracket;
  needs_comma_ = true;
  return *this;
}

void JsonWriter::Separate() {
  if (needs_comma_) out_ += ',';
  needs_comma_ = true;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  out_ += '"';
  AppendJsonEscaped(out_, key);
  out_ += "\":";
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view text) {
  Separate();
  out_ += '"';
  AppendJsonEscaped(out_, text);
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::Number(std::int64_t value) {
  Separate();
  const fmt::format_int digits(value);
  out_.append(digits.data(), digits.size());
  return *this;
}

JsonWriter& JsonWriter::Number(std::uint64_t value) {
  Separate();
  const fmt::format_int digits(value);
  out_.append(digits.data(), digits.size());
  return *this;
}

JsonWriter& JsonWriter::Number(double value) {
  if (!std::isfinite(value)) return Null();
  Separate();
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  Separate();
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Null() {
  Separate();
  out_ += "null";
  return *this;
}

JsonWriter& JsonWriter::DecimalString(std::int64_t value) {
  Separate();
  const fmt::format_int digits(value);
  out_ += '"';
  out_.append(digits.data(), digits.size());
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  out_ += json;
  return *this;
}

}  // namespace hotspan
