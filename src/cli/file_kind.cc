#include "cli/file_kind.h"

#include <algorithm>

#include "wire/protobuf.h"

namespace hotspan::cli {
namespace {

// pprof has a string table in field 6; OTLP's profiles a dictionary in field 2; OTLP's traces have
// field 1 alone.
FileKind KindOfProtobuf(std::string_view bytes) {
  bool resource = false;
  bool dictionary = false;
  bool strings = false;
  try {
    wire::Message message(bytes);
    while (message.next()) {
      if (message.tag() > 16) return FileKind::kUnknown;
      resource |= message.tag_and_type() == wire::Bytes(1);
      dictionary |= message.tag_and_type() == wire::Bytes(2);
      strings |= message.tag_and_type() == wire::Bytes(6);
      message.skip();
    }
  } catch (const protozero::exception&) {
    return FileKind::kUnknown;
  }
  if (strings) return FileKind::kPprof;
  if (dictionary) return FileKind::kProfilesProto;
  return resource ? FileKind::kTracesProto : FileKind::kUnknown;
}

// "a;b;c 12" in the first line.
bool IsFolded(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const std::size_t space = line.rfind(' ');
  if (space == std::string_view::npos || space == 0 || space + 1 >= line.size()) return false;
  std::string_view count = line.substr(space + 1);
  if (count.back() == '\r') count.remove_suffix(1);
  return !count.empty() &&
         std::all_of(count.begin(), count.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

FileKind KindOf(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return FileKind::kUnknown;
  if (bytes[first] == '{') {
    const auto has = [&](std::string_view word) {
      return bytes.find(word) != std::string_view::npos;
    };
    if (has("\"resourceProfiles\"") || has("\"resource_profiles\"")) return FileKind::kProfilesJson;
    if (has("\"resourceSpans\"") || has("\"resource_spans\"")) return FileKind::kTracesJson;
  }
  const FileKind binary = KindOfProtobuf(bytes);
  if (binary != FileKind::kUnknown) return binary;
  return IsFolded(bytes) ? FileKind::kFolded : FileKind::kUnknown;
}

std::string_view FileKindName(FileKind kind) {
  switch (kind) {
    case FileKind::kUnknown:
      return "unknown";
    case FileKind::kTracesProto:
      return "OTLP traces";
    case FileKind::kTracesJson:
      return "OTLP traces (JSON)";
    case FileKind::kProfilesProto:
      return "OTLP profiles";
    case FileKind::kProfilesJson:
      return "OTLP profiles (JSON)";
    case FileKind::kPprof:
      return "pprof";
    case FileKind::kFolded:
      return "folded stacks";
  }
  return "unknown";
}

}  // namespace hotspan::cli
