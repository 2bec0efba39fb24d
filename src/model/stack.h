// Stacks as queries read them: numbers of one engine, resolved to frames through a FrameTable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/time.h"

namespace hotspan {

// Dense number of a stack inside of one engine's data folder.
enum class StackNumber : std::uint32_t {};

// A function at a line, as shown. Interned in a FrameTable.
struct Frame {
  std::string function;
  std::string file;           // empty: not known
  std::int32_t line = 0;      // 0: not known
  std::string module;         // file name of the executable or library, or empty
  std::string build_id;       // hex, or empty
  std::uint64_t address = 0;  // file offset for native frames, else 0
  bool inlined = false;       // was compiled into the next outer frame
  bool symbolized = true;     // false: only an address is known
};

// Frames and the stacks made of them, leaf first, inline frames expanded.
struct FrameTable {
  std::vector<Frame> frames;
  // For each stack asked for: indices into `frames`, leaf first.
  std::unordered_map<StackNumber, std::vector<std::uint32_t>> stacks;
};

}  // namespace hotspan
