// Resolution of native frames at read time: (build id, file offset) to functions, files and lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hotspan {

struct SourceLine {
  std::string function;  // demangled
  std::string file;
  std::int32_t line = 0;
};

// Finds debug information of executables. Threads: all methods may be called from any thread.
class Symbolizer {
 public:
  virtual ~Symbolizer() = default;
  // The inline chain at a file offset, innermost first; empty if nothing is known. `path` is where
  // the program was when it ran; a file there is used only if its build id is the one asked for.
  virtual std::vector<SourceLine> Resolve(std::string_view build_id, std::string_view path,
                                          std::uint64_t file_offset) = 0;
};

}  // namespace hotspan
