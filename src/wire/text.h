// Text and messages shared by the decoders: cutting at limits, repairing UTF-8, naming rejections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "wire/decode.h"

namespace hotspan::wire {

inline bool IsAscii(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080u;
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t seen = 0;
  for (; left >= 8; left -= 8, at += 8) seen |= LoadRaw<std::uint64_t>(at);
  for (; left > 0; --left, ++at) seen |= static_cast<unsigned char>(*at);
  return (seen & kHighBits) == 0;
}

// The slow part of CleanText: text that is too long or not plain ASCII.
std::string_view RepairText(std::string_view text, std::size_t max, std::string& scratch,
                            DecodeCounts& counts);

// `text` cut to at most `max` bytes at a character's end, with bad UTF-8 replaced; the result
// points into `text` or, where something was replaced, into `scratch`.
inline std::string_view CleanText(std::string_view text, std::size_t max, std::string& scratch,
                                  DecodeCounts& counts) {
  if (text.size() <= max && IsAscii(text)) [[likely]]
    return text;
  return RepairText(text, max, scratch, counts);
}

// Reasons for which parts of a message were rejected; keeps the first few.
class Rejections {
 public:
  void Add(std::string reason);
  std::uint64_t count() const { return count_; }
  // "rejected 7 spans: a; b; c; and 4 more", or "".
  std::string Message(std::string_view noun) const;

 private:
  std::uint64_t count_ = 0;
  std::string text_;
};

// `text` for use inside an error message: valid UTF-8, no control characters, at most 64 bytes.
std::string Quotable(std::string_view text);

}  // namespace hotspan::wire
