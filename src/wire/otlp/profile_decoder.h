// OTLP profiles (ExportProfilesServiceRequest, ProfilesData) of proto 1.9 and 1.10 on to samples.
//
// The two layouts number the fields of Sample differently and parse as each other. The whole
// request is read as 1.10; if that breaks rules of the format, it is read as 1.9 too and the
// reading that breaks fewer of them holds. Older layouts are refused.
#pragma once

#include <string_view>

#include "base/result.h"
#include "wire/decode.h"

namespace hotspan::wire {

// A profile with a bad index is rejected and named in the message, the rest is kept; a body that is
// no OTLP at all is kInvalidArgument. `received` stands in for the time of profiles without one.
// Threads: callable from any thread.
Result<ProfileDecode> DecodeProfiles(std::string_view body, Encoding encoding,
                                     TimeNs received = {});

}  // namespace hotspan::wire
