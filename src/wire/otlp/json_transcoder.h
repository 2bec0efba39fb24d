// OTLP/JSON to the same message in OTLP protobuf, so that there is one decoder for both. Internal
// to wire/otlp.
//
// Names may be camelCase or snake_case, unknown ones are ignored; numbers may be strings; trace and
// span ids are hex; enums are numbers or names. A value of the wrong type is kInvalidArgument
// naming the field. Threads: callable from any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hotspan::wire {

struct Transcoded {
  std::string protobuf;
  bool repaired_utf8 = false;  // the JSON had bad bytes that were replaced
};

Result<Transcoded> TranscodeTracesJson(std::string_view json);
// To the layout of proto 1.10. JSON of layouts before 1.9 is refused by the names of its fields.
Result<Transcoded> TranscodeProfilesJson(std::string_view json);

}  // namespace hotspan::wire
