#include "ingest/stats.h"

namespace hotspan::ingest {

std::string_view SignalName(Signal signal) {
  switch (signal) {
    case Signal::kTraces:
      return "traces";
    case Signal::kProfiles:
      return "profiles";
    case Signal::kPyroscope:
      return "pyroscope";
  }
  return "unknown";
}

std::string_view RefusalName(Refusal refusal) {
  switch (refusal) {
    case Refusal::kContentType:
      return "content_type";
    case Refusal::kTooLarge:
      return "too_large";
    case Refusal::kMalformed:
      return "malformed";
    case Refusal::kOverload:
      return "overload";
    case Refusal::kStorage:
      return "storage";
  }
  return "unknown";
}

}  // namespace hotspan::ingest
