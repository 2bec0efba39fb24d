// The function symbols of an ELF file or image, found by file offset.
//
// Threads: immutable once loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hotspan::agent {

class ElfSymbols {
 public:
  // Maps the file; null if it can't be read, is no ELF file of this machine, or has another build
  // id than `build_id` (checked unless empty).
  static std::unique_ptr<ElfSymbols> Load(const std::string& path, const std::string& build_id);
  // Over bytes that outlive it.
  static std::unique_ptr<ElfSymbols> FromImage(std::span<const std::uint8_t> image);

  ElfSymbols(const ElfSymbols&) = delete;
  ElfSymbols& operator=(const ElfSymbols&) = delete;
  ~ElfSymbols();

  // The mangled name of the function that the byte lies in, or "".
  std::string_view Find(std::uint64_t file_offset) const;
  // Of .note.gnu.build-id, hex.
  const std::string& build_id() const { return build_id_; }
  std::size_t size() const { return functions_.size(); }

 private:
  struct Function {
    std::uint64_t address;
    std::uint64_t size;
    std::uint64_t name;  // offset of the name in the image
  };
  struct Segment {
    std::uint64_t file_offset;
    std::uint64_t size;
    std::uint64_t address;
  };

  explicit ElfSymbols(std::span<const std::uint8_t> image) : image_(image) {}
  bool Parse();
  void ParseNotes(std::uint64_t offset, std::uint64_t size);
  void AddTable(std::uint64_t symbols, std::uint64_t symbols_size, std::uint64_t names,
                std::uint64_t names_size);

  std::span<const std::uint8_t> image_;
  bool is_mapped_ = false;
  std::vector<Function> functions_;
  std::vector<Segment> segments_;
  std::string build_id_;
};

// A C++ name as people write it; other names as they are.
std::string Demangle(std::string_view name);

}  // namespace hotspan::agent
