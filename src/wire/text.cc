#include "wire/text.h"

#include "base/utf8.h"

namespace hotspan::wire {
namespace {

constexpr std::uint64_t kReasonsKept = 4;
constexpr std::size_t kQuotedBytesMax = 64;

// The longest prefix of valid text that is at most `max` bytes and ends with a character.
std::string_view CutAtCharacter(std::string_view text, std::size_t max) {
  if (text.size() <= max) return text;
  std::size_t end = max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  return text.substr(0, end);
}

}  // namespace

std::string_view RepairText(std::string_view text, std::size_t max, std::string& scratch,
                            DecodeCounts& counts) {
  if (text.size() > max) {
    ++counts.truncated;
    // A few bytes more than fit, so that the cut below sees the whole of its last character.
    text = text.substr(0, max + 4);
  }
  if (!IsValidUtf8(CutAtCharacter(text, max))) {
    ++counts.invalid_utf8;
    scratch = ReplaceInvalidUtf8(text);
    text = scratch;
  }
  return CutAtCharacter(text, max);
}

void Rejections::Add(std::string reason) {
  if (++count_ > kReasonsKept) return;
  if (!text_.empty()) text_ += "; ";
  text_ += reason;
}

std::string Rejections::Message(std::string_view noun) const {
  if (count_ == 0) return "";
  std::string message = "rejected " + std::to_string(count_) + " ";
  message += noun;
  if (count_ > 1) message += 's';
  message += ": " + text_;
  if (count_ > kReasonsKept) {
    message += "; and " + std::to_string(count_ - kReasonsKept) + " more";
  }
  return message;
}

std::string Quotable(std::string_view text) {
  const std::string valid = ReplaceInvalidUtf8(text.substr(0, kQuotedBytesMax * 2));
  std::string out(CutAtCharacter(valid, kQuotedBytesMax));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return out;
}

}  // namespace hotspan::wire
