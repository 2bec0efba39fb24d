// Resolves native frames by the DWARF of executables on this machine, with elfutils.
//
// Threads: all methods of the symbolizer from any thread; one file is read by one thread at a time.
#pragma once

#include <memory>

#include "model/symbol.h"

namespace hotspan::symbols {

struct ElfSymbolizerOptions {
  // Where distributions put separate debug files, as .build-id/xx/yyyy.debug below it.
  std::string debug_folder = "/usr/lib/debug";
  // Open executables; the one not used for longest is closed.
  std::size_t files_max = 64;
};

std::unique_ptr<Symbolizer> MakeElfSymbolizer(ElfSymbolizerOptions options = {});

// The build id (hex) of an ELF file, or empty.
std::string ReadBuildId(const std::string& path);

}  // namespace hotspan::symbols
