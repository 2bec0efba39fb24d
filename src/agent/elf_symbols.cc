#include "agent/elf_symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/function_name.h"

namespace hotspan::agent {
namespace {

// Longer names are templates nobody reads; demangling them costs more than they tell.
constexpr std::size_t kMangledBytesMax = 2048;

// A copy of the structure at `offset`; false if the image ends before.
template <typename T>
bool ReadAt(std::span<const std::uint8_t> image, std::uint64_t offset, T* out) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return false;
  std::memcpy(out, image.data() + offset, sizeof(T));
  return true;
}

bool Inside(std::span<const std::uint8_t> image, std::uint64_t offset, std::uint64_t size) {
  return offset <= image.size() && size <= image.size() - offset;
}

}  // namespace

std::unique_ptr<ElfSymbols> ElfSymbols::Load(const std::string& path, const std::string& build_id) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat status{};
  void* memory = MAP_FAILED;
  std::size_t size = 0;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    size = static_cast<std::size_t>(status.st_size);
    memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  }
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  std::unique_ptr<ElfSymbols> symbols(
      new ElfSymbols({static_cast<const std::uint8_t*>(memory), size}));
  symbols->is_mapped_ = true;
  if (!symbols->Parse()) return nullptr;
  // The file may have been replaced since it was loaded.
  if (!build_id.empty() && symbols->build_id_ != build_id) return nullptr;
  return symbols;
}

std::unique_ptr<ElfSymbols> ElfSymbols::FromImage(std::span<const std::uint8_t> image) {
  std::unique_ptr<ElfSymbols> symbols(new ElfSymbols(image));
  if (!symbols->Parse()) return nullptr;
  return symbols;
}

ElfSymbols::~ElfSymbols() {
  if (is_mapped_) munmap(const_cast<std::uint8_t*>(image_.data()), image_.size());
}

bool ElfSymbols::Parse() {
  Elf64_Ehdr header;
  if (!ReadAt(image_, 0, &header)) return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return false;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!ReadAt(image_, header.e_phoff + i * sizeof(segment), &segment)) break;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      segments_.push_back(Segment{segment.p_offset, segment.p_filesz, segment.p_vaddr});
    }
    if (segment.p_type == PT_NOTE) ParseNotes(segment.p_offset, segment.p_filesz);
  }
  // .symtab holds all that .dynsym does, where it was not stripped.
  for (const std::uint32_t wanted : {std::uint32_t{SHT_SYMTAB}, std::uint32_t{SHT_DYNSYM}}) {
    for (std::uint64_t i = 0; i < header.e_shnum && functions_.empty(); ++i) {
      Elf64_Shdr section;
      Elf64_Shdr names;
      if (!ReadAt(image_, header.e_shoff + i * sizeof(section), &section)) break;
      if (section.sh_type != wanted) continue;
      if (!ReadAt(image_, header.e_shoff + section.sh_link * sizeof(names), &names)) continue;
      AddTable(section.sh_offset, section.sh_size, names.sh_offset, names.sh_size);
    }
  }
  return true;
}

void ElfSymbols::ParseNotes(std::uint64_t offset, std::uint64_t size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  if (!Inside(image_, offset, size) || !build_id_.empty()) return;
  std::uint64_t at = offset;
  Elf64_Nhdr note;
  while (at + sizeof(note) <= offset + size && ReadAt(image_, at, &note)) {
    const std::uint64_t name = at + sizeof(note);
    const std::uint64_t body = name + ((std::uint64_t{note.n_namesz} + 3) & ~std::uint64_t{3});
    at = body + ((std::uint64_t{note.n_descsz} + 3) & ~std::uint64_t{3});
    if (at > offset + size) return;
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4) continue;
    if (std::memcmp(image_.data() + name, "GNU", 4) != 0) continue;
    for (std::uint64_t i = 0; i < note.n_descsz; ++i) {
      build_id_ += kDigits[image_[body + i] >> 4];
      build_id_ += kDigits[image_[body + i] & 15];
    }
    return;
  }
}

void ElfSymbols::AddTable(std::uint64_t symbols, std::uint64_t symbols_size, std::uint64_t names,
                          std::uint64_t names_size) {
  if (!Inside(image_, symbols, symbols_size) || !Inside(image_, names, names_size)) return;
  if (names_size == 0 || image_[names + names_size - 1] != 0) return;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    ReadAt(image_, symbols + at, &symbol);
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC) continue;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names_size) continue;
    if (image_[names + symbol.st_name] == 0) continue;
    functions_.push_back(Function{symbol.st_value, symbol.st_size, names + symbol.st_name});
  }
  // Of aliases the one with a size, then the one whose name stands first.
  std::sort(functions_.begin(), functions_.end(), [](const Function& a, const Function& b) {
    if (a.address != b.address) return a.address < b.address;
    return a.size != b.size ? a.size > b.size : a.name < b.name;
  });
  const auto last =
      std::unique(functions_.begin(), functions_.end(),
                  [](const Function& a, const Function& b) { return a.address == b.address; });
  functions_.erase(last, functions_.end());
  functions_.shrink_to_fit();
}

std::string_view ElfSymbols::Find(std::uint64_t file_offset) const {
  for (const Segment& segment : segments_) {
    if (file_offset < segment.file_offset || file_offset - segment.file_offset >= segment.size) {
      continue;
    }
    const std::uint64_t address = file_offset - segment.file_offset + segment.address;
    auto after = std::upper_bound(
        functions_.begin(), functions_.end(), address,
        [](std::uint64_t value, const Function& function) { return value < function.address; });
    if (after == functions_.begin()) return "";
    const Function& function = *(after - 1);
    // Assembly often has no size: such a function reaches to the next one.
    if (function.size != 0 && address - function.address >= function.size) return "";
    return reinterpret_cast<const char*>(image_.data() + function.name);
  }
  return "";
}

std::string Demangle(std::string_view name) {
  // Versions ("read@@GLIBC_2.2.5") are no part of the name.
  const std::string plain(name.substr(0, name.find('@')));
  if (plain.rfind("_Z", 0) != 0 || plain.size() > kMangledBytesMax) return plain;
  int status = 0;
  char* text = abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status);
  if (text == nullptr) return plain;
  std::string demangled = status == 0 ? ShortFunctionName(text) : plain;
  std::free(text);
  return demangled;
}

}  // namespace hotspan::agent
