// OTLP KeyValue and AnyValue messages to packed attributes. Internal to wire/otlp.
//
// Threads: one thread at a time; throws protozero::exception on malformed protobuf.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/decode.h"

namespace hotspan::wire {

class AttributePacker {
 public:
  // With `strings`, keys and values may be indices into it, as in profiles; else such are absent.
  explicit AttributePacker(DecodeCounts& counts,
                           const std::vector<std::string_view>* strings = nullptr)
      : counts_(counts), strings_(strings) {}

  // Appends the attribute of a KeyValue message; false if it has no key, then nothing is appended.
  // `key`, if given, receives the key as sent.
  bool AppendKeyValue(std::string& out, std::string_view message, std::string_view* key = nullptr);
  // Appends key and AnyValue message as an attribute.
  void Append(std::string& out, std::string_view key, std::string_view any_value);
  // The content of an AnyValue's string, if it is one.
  std::string_view TextOf(std::string_view any_value);

 private:
  void AppendValue(std::string& out, std::string_view any_value, int depth);
  void AppendArray(std::string& out, std::string_view message, int depth);
  void AppendMap(std::string& out, std::string_view message, int depth);
  bool AppendEntry(std::string& out, std::string_view message, int depth, std::string_view* key);
  void AppendKey(std::string& out, std::string_view key);
  std::string_view StringAt(std::int64_t index) const;

  DecodeCounts& counts_;
  const std::vector<std::string_view>* strings_;
  std::string scratch_;
};

}  // namespace hotspan::wire
