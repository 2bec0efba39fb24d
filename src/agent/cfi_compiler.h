// Compiles the .eh_frame of a loaded module to rows for the unwinder.
//
// Threads: a pure function of bytes; the bytes may be anything.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agent/unwind/cfi_table.h"

namespace hotspan::agent {

// Copies of .eh_frame_hdr and .eh_frame with the addresses they are loaded at.
struct EhFrame {
  std::vector<std::uint8_t> header;
  std::uint64_t header_address = 0;
  std::vector<std::uint8_t> frames;
  std::uint64_t frames_address = 0;
};

struct CompiledCfi {
  std::uint64_t start = 0;  // of the code
  std::uint64_t limit = 0;
  std::vector<CfiRow> rows;
  std::vector<std::uint32_t> buckets;
  std::size_t function_count = 0;
  std::size_t unsupported_count = 0;  // rows of code that can't be walked

  // Views this; valid as long as this is neither moved nor changed.
  CfiModule View() const;
};

// Where the sections lie in memory, read from .eh_frame_hdr; all zero if its form is not the usual.
struct EhFrameExtent {
  std::uint64_t frames_address = 0;
  std::uint64_t last_function = 0;  // address of the entry that lies furthest
  std::uint32_t function_count = 0;
};
// `header` may be longer than the section.
EhFrameExtent ReadEhFrameHeader(std::span<const std::uint8_t> header, std::uint64_t header_address);
inline constexpr std::size_t kEhFrameHeaderBytes = 12;
inline constexpr std::size_t kEhFrameHeaderEntryBytes = 8;

// Rows of code in [start, limit).
CompiledCfi CompileCfi(const EhFrame& image, std::uint64_t start, std::uint64_t limit);

}  // namespace hotspan::agent
