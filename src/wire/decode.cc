#include "wire/decode.h"

namespace hotspan::wire {

std::string_view ProfileLayoutName(ProfileLayout layout) {
  switch (layout) {
    case ProfileLayout::kNone:
      return "none";
    case ProfileLayout::kOtlp9:
      return "otlp-1.9";
    case ProfileLayout::kOtlp10:
      return "otlp-1.10";
    case ProfileLayout::kPprof:
      return "pprof";
    case ProfileLayout::kFolded:
      return "folded";
  }
  return "none";
}

}  // namespace hotspan::wire
