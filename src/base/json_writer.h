// Writes JSON from front to back into a string, without building a tree.
//
//   JsonWriter json;
//   json.BeginObject().Key("names").BeginArray().String("a").EndArray().EndObject();
//   Send(json.Take());
//
// The caller keeps the order valid; commas are the writer's. Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hotspan {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key);
  // Invalid UTF-8 is replaced by U+FFFD, byte by byte.
  JsonWriter& String(std::string_view text);
  JsonWriter& Number(std::int64_t value);
  JsonWriter& Number(std::uint64_t value);
  JsonWriter& Number(int value) { return Number(static_cast<std::int64_t>(value)); }
  JsonWriter& Number(unsigned value) { return Number(static_cast<std::uint64_t>(value)); }
  // Not a number and infinities are written as null.
  JsonWriter& Number(double value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  // A 64-bit number as a decimal string, as absolute times are written.
  JsonWriter& DecimalString(std::int64_t value);
  // JSON that is complete already.
  JsonWriter& Raw(std::string_view json);

  const std::string& text() const { return out_; }
  std::string Take() { return std::move(out_); }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void Separate();

  std::string out_;
  bool needs_comma_ = false;
};

// `text` as the inside of a JSON string, without the quotes.
void AppendJsonEscaped(std::string& out, std::string_view text);

}  // namespace hotspan
