// What a file is, by its content.
#pragma once

#include <string_view>

namespace hotspan::cli {

enum class FileKind {
  kUnknown,
  kTracesProto,
  kTracesJson,
  kProfilesProto,
  kProfilesJson,
  kPprof,
  kFolded,
};

// `bytes` are inflated already.
FileKind KindOf(std::string_view bytes);
std::string_view FileKindName(FileKind kind);

}  // namespace hotspan::cli
