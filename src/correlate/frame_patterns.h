// Tables of name patterns: what libraries and languages call the work that findings speak of.
//
// Threads: constants.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "correlate/frame_traits.h"

namespace hotspan::correlate {

enum class Match : std::uint8_t {
  kPrefix,    // the qualified name begins with it
  kContains,  // the qualified name contains it
  kLower,     // the last part, in lower case without "_", contains it
};

template <typename Kind>
struct Pattern {
  Kind kind;
  Match match;
  std::string_view text;
};

// The first pattern that fits decides; special cases come before the general.
std::span<const Pattern<Family>> LibraryPatterns();
std::span<const Pattern<Family>> NamePatterns();
std::span<const Pattern<Reusable>> ReusablePatterns();
// Shared libraries whose every frame is of one family, by the beginning of their file's name.
std::span<const Pattern<Family>> ModulePatterns();

// Plain lists of prefixes or parts.
std::span<const std::string_view> VendorPrefixes();
std::span<const std::string_view> VendorNames();  // whole names
std::span<const std::string_view> VendorModules();
std::span<const std::string_view> VendorPaths();
std::span<const std::string_view> MapperParts();     // in lower case, of the qualified name
std::span<const std::string_view> LookUpPrefixes();  // in lower case, of the last part
std::span<const std::string_view> GcPrefixes();
std::span<const std::string_view> ConfigVerbs();  // a name that begins with a verb ...
std::span<const std::string_view> ConfigNouns();  // ... and has a noun reads configuration

}  // namespace hotspan::correlate
