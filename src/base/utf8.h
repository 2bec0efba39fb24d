// UTF-8 by the Unicode standard: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hotspan {

// The size (1 to 4) of the valid sequence at text[at], or 0 if there is none. at < text.size().
std::size_t Utf8SequenceSize(std::string_view text, std::size_t at);

bool IsValidUtf8(std::string_view text);

// `text` with each byte that begins no valid sequence replaced by U+FFFD.
std::string ReplaceInvalidUtf8(std::string_view text);

}  // namespace hotspan
