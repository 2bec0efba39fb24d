#include "base/utf8.h"

#include "base/bytes.h"

namespace hotspan {

std::size_t Utf8SequenceSize(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if ((lead & 0xf0u) == 0xe0u) {
    if (!follows(1) || !follows(2)) return 0;
    if (lead == 0xe0 && byte(1) < 0xa0) return 0;
    if (lead == 0xed && byte(1) >= 0xa0) return 0;
    return 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (lead == 0xf0 && byte(1) < 0x90) return 0;
    if (lead == 0xf4 && byte(1) >= 0x90) return 0;
    return 4;
  }
  return 0;
}

bool IsValidUtf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    // Eight plain bytes at a time: most text is.
    if (at + 8 <= text.size() &&
        (LoadRaw<std::uint64_t>(text.data() + at) & 0x8080808080808080u) == 0) {
      at += 8;
      continue;
    }
    const std::size_t size = Utf8SequenceSize(text, at);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = Utf8SequenceSize(text, at);
    if (size == 0) {
      out += "\xef\xbf\xbd";
      ++at;
    } else {
      out.append(text, at, size);
      at += size;
    }
  }
  return out;
}

}  // namespace hotspan
