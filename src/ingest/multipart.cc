#include "ingest/multipart.h"

#include <algorithm>
#include <string>

namespace hotspan::ingest {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

// Where `wanted` (in lower case) stands in `text`, in any case.
std::size_t FindIgnoringCase(std::string_view text, std::string_view wanted) {
  const auto it = std::search(text.begin(), text.end(), wanted.begin(), wanted.end(),
                              [](char a, char b) { return Lower(a) == b; });
  return it == text.end() ? std::string_view::npos : static_cast<std::size_t>(it - text.begin());
}

// The value of a parameter of a header, quoted or not; empty if it is not there.
std::string_view Parameter(std::string_view header, std::string_view name) {
  const std::string wanted = std::string(name) + "=";
  for (std::size_t from = 0; from < header.size();) {
    const std::size_t found = FindIgnoringCase(header.substr(from), wanted);
    if (found == std::string_view::npos) return {};
    const std::size_t at = from + found;
    const bool starts = at == 0 || header[at - 1] == ';' || header[at - 1] == ' ';
    std::string_view value = header.substr(at + wanted.size());
    if (starts && value.starts_with('"')) {
      value.remove_prefix(1);
      return value.substr(0, value.find('"'));
    }
    if (starts) return value.substr(0, value.find_first_of("; \t\r\n"));
    from = at + 1;
  }
  return {};
}

// The field's name from the headers of a part.
std::string_view PartName(std::string_view headers) {
  const std::size_t at = FindIgnoringCase(headers, "content-disposition:");
  if (at == std::string_view::npos) return {};
  const std::string_view line = headers.substr(at);
  return Parameter(line.substr(0, line.find("\r\n")), "name");
}

tl::unexpected<Error> Bad(const char* message) {
  return Fail(Code::kInvalidArgument, std::string("multipart body: ") + message);
}

}  // namespace

bool IsMultipart(std::string_view content_type) {
  return FindIgnoringCase(content_type, "multipart/form-data") == 0;
}

Result<std::vector<Part>> ParseMultipart(std::string_view content_type, std::string_view body) {
  const std::string_view boundary = Parameter(content_type, "boundary");
  if (boundary.empty()) return Bad("content type has no boundary");
  const std::string opening = "--" + std::string(boundary);
  const std::string delimiter = "\r\n" + opening;
  const std::size_t first = body.find(opening);
  if (first == std::string_view::npos) return Bad("the boundary is not in the body");
  body.remove_prefix(first + opening.size());
  std::vector<Part> parts;
  while (!body.starts_with("--")) {
    const std::size_t headers_end = body.find("\r\n\r\n");
    if (headers_end == std::string_view::npos) return Bad("a part has no end of its headers");
    const std::string_view headers = body.substr(0, headers_end);
    body.remove_prefix(headers_end + 4);
    const std::size_t end = body.find(delimiter);
    if (end == std::string_view::npos) return Bad("a part has no end");
    if (parts.size() == kPartsMax) return Bad("there are more than 32 parts");
    parts.push_back({PartName(headers), body.substr(0, end)});
    body.remove_prefix(end + delimiter.size());
  }
  return parts;
}

}  // namespace hotspan::ingest
