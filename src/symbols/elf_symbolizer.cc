#include "symbols/elf_symbolizer.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <list>
#include <unordered_map>

#include "base/function_name.h"
#include "base/mutex.h"
#include "model/ids.h"

namespace hotspan::symbols {
namespace {

std::string Demangled(const char* name) {
  if (name == nullptr) return {};
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return ShortFunctionName(status == 0 && plain ? plain.get() : name);
}

std::string BuildIdOf(Elf* elf) {
  const void* bytes = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
  if (size <= 0) return {};
  return ToHex({static_cast<const char*>(bytes), static_cast<std::size_t>(size)});
}

// The linked address of a byte of the file, by the load segments; 0 where none holds it.
std::uint64_t AddressOfOffset(Elf* elf, std::uint64_t offset) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return 0;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) continue;
    if (header.p_type == PT_LOAD && offset >= header.p_offset &&
        offset - header.p_offset < header.p_filesz) {
      return header.p_vaddr + (offset - header.p_offset);
    }
  }
  return 0;
}

// An executable with its debug information, which may lie in a file of its own.
class ElfFile {
 public:
  ElfFile(std::string path, std::string build_id, const std::string& debug_folder)
      : build_id_(std::move(build_id)) {
    file_ = OpenIfItIs(path);
    if (build_id_.size() > 2) {
      debug_ = OpenIfItIs(debug_folder + "/.build-id/" + build_id_.substr(0, 2) + "/" +
                          build_id_.substr(2) + ".debug");
    }
    if (debug_.elf != nullptr) dwarf_ = dwarf_begin_elf(debug_.elf, DWARF_C_READ, nullptr);
    if (dwarf_ == nullptr && file_.elf != nullptr) {
      dwarf_ = dwarf_begin_elf(file_.elf, DWARF_C_READ, nullptr);
    }
  }
  ~ElfFile() {
    if (dwarf_ != nullptr) dwarf_end(dwarf_);
    for (Opened* opened : {&file_, &debug_}) {
      if (opened->elf != nullptr) elf_end(opened->elf);
      if (opened->descriptor >= 0) ::close(opened->descriptor);
    }
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  std::vector<SourceLine> Resolve(std::uint64_t file_offset) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (dwarf_ == nullptr) return {};
    // A separate debug file has the same addresses, but its segments hold no bytes.
    Elf* const elf = file_.elf != nullptr ? file_.elf : debug_.elf;
    const std::uint64_t address = AddressOfOffset(elf, file_offset);
    if (address == 0) return {};
    Dwarf_Die unit;
    if (dwarf_addrdie(dwarf_, address, &unit) == nullptr && !FindUnit(address, &unit)) return {};
    return Chain(&unit, address);
  }

 private:
  struct Opened {
    int descriptor = -1;
    Elf* elf = nullptr;
  };

  // A file of another build would give wrong lines: better none.
  Opened OpenIfItIs(const std::string& path) const {
    Opened opened;
    opened.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (opened.descriptor < 0) return {};
    opened.elf = elf_begin(opened.descriptor, ELF_C_READ_MMAP, nullptr);
    if (opened.elf != nullptr && BuildIdOf(opened.elf) == build_id_) return opened;
    if (opened.elf != nullptr) elf_end(opened.elf);
    ::close(opened.descriptor);
    return {};
  }

  // Units without .debug_aranges (clang leaves it out) are found by their ranges.
  bool FindUnit(std::uint64_t address, Dwarf_Die* unit) {
    Dwarf_Off offset = 0, next = 0;
    std::size_t header_size = 0;
    while (dwarf_nextcu(dwarf_, offset, &next, &header_size, nullptr, nullptr, nullptr) == 0) {
      if (dwarf_offdie(dwarf_, offset + header_size, unit) != nullptr &&
          dwarf_haspc(unit, address) > 0) {
        return true;
      }
      offset = next;
    }
    return false;
  }

  static std::string NameOf(Dwarf_Die* die) {
    Dwarf_Attribute attribute;
    for (const unsigned int key :
         {unsigned{DW_AT_linkage_name}, unsigned{DW_AT_MIPS_linkage_name}}) {
      if (dwarf_attr_integrate(die, key, &attribute) != nullptr) {
        return Demangled(dwarf_formstring(&attribute));
      }
    }
    if (dwarf_attr_integrate(die, DW_AT_name, &attribute) != nullptr) {
      const char* name = dwarf_formstring(&attribute);
      return name != nullptr ? name : "";
    }
    return {};
  }

  static std::int32_t LineAttribute(Dwarf_Die* die, unsigned int key) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_attr(die, key, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0) {
      return 0;
    }
    return static_cast<std::int32_t>(value);
  }

  static std::string CallFile(Dwarf_Die* unit, Dwarf_Die* die) {
    Dwarf_Attribute attribute;
    Dwarf_Word index = 0;
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (dwarf_attr(die, DW_AT_call_file, &attribute) == nullptr ||
        dwarf_formudata(&attribute, &index) != 0 || dwarf_getsrcfiles(unit, &files, &count) != 0 ||
        index >= count) {
      return {};
    }
    const char* name = dwarf_filesrc(files, index, nullptr, nullptr);
    return name != nullptr ? name : "";
  }

  // Innermost first: the line of the instruction belongs to the innermost inlined function; each
  // outer one is at the line of the call that was compiled into it.
  static std::vector<SourceLine> Chain(Dwarf_Die* unit, std::uint64_t address) {
    std::vector<SourceLine> chain;
    SourceLine current;
    if (Dwarf_Line* line = dwarf_getsrc_die(unit, address); line != nullptr) {
      int number = 0;
      if (dwarf_lineno(line, &number) == 0) current.line = number;
      const char* file = dwarf_linesrc(line, nullptr, nullptr);
      if (file != nullptr) current.file = file;
    }
    using Dies = std::unique_ptr<Dwarf_Die, decltype(&std::free)>;
    Dwarf_Die* found = nullptr;
    const int depth = dwarf_getscopes(unit, address, &found);
    const Dies owned_found(found, &std::free);
    if (depth <= 0) return chain;
    // Beyond an inlined function these are the scopes of its definition; the calls it was compiled
    // into are the parents of the innermost one.
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes_die(&found[0], &scopes);
    const Dies owned_scopes(scopes, &std::free);
    for (int i = 0; i < count; ++i) {
      Dwarf_Die* die = &scopes[i];
      const int tag = dwarf_tag(die);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
      current.function = NameOf(die);
      chain.push_back(current);
      if (tag == DW_TAG_subprogram) break;
      current = {};
      current.line = LineAttribute(die, DW_AT_call_line);
      current.file = CallFile(unit, die);
    }
    return chain;
  }

  const std::string build_id_;
  Mutex mutex_;
  Opened file_, debug_;
  Dwarf* dwarf_ = nullptr;
};

class ElfSymbolizer final : public Symbolizer {
 public:
  explicit ElfSymbolizer(ElfSymbolizerOptions options) : options_(std::move(options)) {
    elf_version(EV_CURRENT);
  }

  std::vector<SourceLine> Resolve(std::string_view build_id, std::string_view path,
                                  std::uint64_t file_offset) override {
    if (build_id.empty()) return {};
    return Find(std::string(build_id), std::string(path))->Resolve(file_offset);
  }

 private:
  std::shared_ptr<ElfFile> Find(const std::string& build_id, const std::string& path)
      EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto key = std::pair(build_id, path);
    const auto known = std::ranges::find(files_, key, &Entry::first);
    if (known != files_.end()) {
      files_.splice(files_.begin(), files_, known);
    } else {
      files_.emplace_front(key, std::make_shared<ElfFile>(path, build_id, options_.debug_folder));
      if (files_.size() > options_.files_max) files_.pop_back();
    }
    return files_.front().second;
  }

  using Entry = std::pair<std::pair<std::string, std::string>, std::shared_ptr<ElfFile>>;
  const ElfSymbolizerOptions options_;
  Mutex mutex_;
  std::list<Entry> files_ GUARDED_BY(mutex_);  // most recently used first
};

}  // namespace

std::unique_ptr<Symbolizer> MakeElfSymbolizer(ElfSymbolizerOptions options) {
  return std::make_unique<ElfSymbolizer>(std::move(options));
}

std::string ReadBuildId(const std::string& path) {
  elf_version(EV_CURRENT);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  std::string id;
  Elf* elf = elf_begin(descriptor, ELF_C_READ_MMAP, nullptr);
  if (elf != nullptr) {
    id = BuildIdOf(elf);
    elf_end(elf);
  }
  ::close(descriptor);
  return id;
}

}  // namespace hotspan::symbols
