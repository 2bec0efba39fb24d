// The parts of a multipart/form-data body.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"

namespace hotspan::ingest {

struct Part {
  std::string_view name;
  std::string_view bytes;
};

bool IsMultipart(std::string_view content_type);

// Views into `body`. At most kPartsMax parts; a body without its boundaries is kInvalidArgument.
Result<std::vector<Part>> ParseMultipart(std::string_view content_type, std::string_view body);

inline constexpr std::size_t kPartsMax = 32;

}  // namespace hotspan::ingest
