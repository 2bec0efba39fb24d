#include "agent/module_map.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "agent/signal/handler.h"
#include "base/limits.h"

namespace hotspan::agent {
namespace {

// A replaced snapshot is kept for samples that lie in rings: they are drained at every refresh.
constexpr int kRefreshesKept = 2;

struct Found {
  std::shared_ptr<LoadedModule> module;
  EhFrame eh_frame;
  std::shared_ptr<const LoadedModule> known;  // instead of the two
};

struct Search {
  std::uint64_t adds = 0;
  std::uint64_t subs = 0;
  bool only_counts = false;
  const CodeSnapshot* before = nullptr;
  std::vector<Found> found;
};

std::string HexOf(const std::uint8_t* bytes, std::size_t size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (std::size_t i = 0; i < size; ++i) {
    hex += kDigits[bytes[i] >> 4];
    hex += kDigits[bytes[i] & 15];
  }
  return hex;
}

const std::uint8_t* At(std::uint64_t address) {
  return reinterpret_cast<const std::uint8_t*>(address);
}

std::string BuildId(std::uint64_t address, std::uint64_t size) {
  constexpr std::size_t kIdBytesMax = 64;
  std::uint64_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= size) {
    ElfW(Nhdr) note;
    std::memcpy(&note, At(address + at), sizeof(note));
    const std::uint64_t name = at + sizeof(note);
    const std::uint64_t body = name + ((std::uint64_t{note.n_namesz} + 3) & ~std::uint64_t{3});
    const std::uint64_t next = body + ((std::uint64_t{note.n_descsz} + 3) & ~std::uint64_t{3});
    if (next > size) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= kIdBytesMax &&
        std::memcmp(At(address + name), "GNU", 4) == 0) {
      return HexOf(At(address + body), note.n_descsz);
    }
    at = next;
  }
  return "";
}

std::string ExecutablePath() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string("[exe]");
}

// Copies the sections while the loader holds the module for us; compiling can then take its time.
EhFrame CopyEhFrame(const dl_phdr_info& info, const ElfW(Phdr) & header) {
  EhFrame copy;
  const std::uint64_t address = info.dlpi_addr + header.p_vaddr;
  std::uint64_t limit = 0;  // of the segment that holds the sections
  for (std::size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& load = info.dlpi_phdr[i];
    const std::uint64_t start = info.dlpi_addr + load.p_vaddr;
    if (load.p_type == PT_LOAD && address >= start && address < start + load.p_memsz) {
      limit = start + load.p_filesz;
    }
  }
  if (limit <= address + kEhFrameHeaderBytes) return copy;
  const EhFrameExtent first = ReadEhFrameHeader({At(address), kEhFrameHeaderBytes}, address);
  const std::uint64_t size =
      kEhFrameHeaderBytes + std::uint64_t{first.function_count} * kEhFrameHeaderEntryBytes;
  if (first.frames_address == 0 || size > limit - address) return copy;
  const EhFrameExtent extent = ReadEhFrameHeader({At(address), size}, address);
  // Both lie in one segment with every linker we know of; else there is no bound to read up to.
  if (extent.frames_address >= limit || extent.last_function + 4 > limit ||
      extent.last_function < extent.frames_address) {
    return copy;
  }
  std::uint32_t last_size;
  std::memcpy(&last_size, At(extent.last_function), sizeof(last_size));
  const std::uint64_t end = extent.last_function + 4 + last_size;
  if (end > limit) return copy;
  copy.header.assign(At(address), At(address + size));
  copy.header_address = address;
  copy.frames.assign(At(extent.frames_address), At(end));
  copy.frames_address = extent.frames_address;
  return copy;
}

std::shared_ptr<LoadedModule> Describe(const dl_phdr_info& info) {
  auto module = std::make_shared<LoadedModule>();
  module->bias = info.dlpi_addr;
  module->path = info.dlpi_name == nullptr ? "" : info.dlpi_name;
  std::uint64_t image_limit = 0;
  for (std::size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    const std::uint64_t start = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_NOTE && module->build_id.empty()) {
      module->build_id = BuildId(start, header.p_memsz);
    }
    if (header.p_type != PT_LOAD) continue;
    image_limit = std::max<std::uint64_t>(image_limit, start + header.p_memsz);
    if ((header.p_flags & PF_X) != 0) {
      module->code.push_back(CodeSegment{start, start + header.p_memsz, header.p_offset});
    }
  }
  std::sort(module->code.begin(), module->code.end(),
            [](const CodeSegment& a, const CodeSegment& b) { return a.start < b.start; });
  if (module->path.empty()) {
    module->path = ExecutablePath();
  } else if (module->path.find('/') == std::string::npos && info.dlpi_addr != 0 &&
             module->path.rfind("linux-", 0) == 0) {
    module->path = "[vdso]";
    // Its section headers lie behind the segment, in the last page that is mapped.
    constexpr std::uint64_t kPage = 4096;
    image_limit = (image_limit + kPage - 1) / kPage * kPage;
    module->image.assign(At(info.dlpi_addr), At(image_limit));
  }
  return module;
}

bool Same(const LoadedModule& a, const LoadedModule& b) {
  if (a.bias != b.bias || a.build_id != b.build_id || a.path != b.path) return false;
  if (a.code.size() != b.code.size()) return false;
  return a.code.empty() ||
         (a.code[0].start == b.code[0].start && a.code[0].limit == b.code[0].limit);
}

int OnModule(dl_phdr_info* info, std::size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  search.adds = info->dlpi_adds;
  search.subs = info->dlpi_subs;
  if (search.only_counts) return 1;
  Found found;
  found.module = Describe(*info);
  if (found.module->code.empty()) return 0;
  if (search.before != nullptr) {
    for (const auto& known : search.before->modules) {
      if (Same(*known, *found.module)) found.known = known;
    }
  }
  if (found.known == nullptr) {
    for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
      if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) {
        found.eh_frame = CopyEhFrame(*info, info->dlpi_phdr[i]);
      }
    }
  }
  search.found.push_back(std::move(found));
  return 0;
}

std::shared_ptr<CodeSnapshot> Build(std::vector<Found>& found) {
  auto snapshot = std::make_shared<CodeSnapshot>();
  std::size_t rows = 0;
  for (Found& each : found) {
    if (each.known == nullptr) {
      const std::vector<CodeSegment>& code = each.module->code;
      if (rows < limits::kAgentCfiRowsMax && !each.eh_frame.frames.empty()) {
        each.module->cfi = CompileCfi(each.eh_frame, code.front().start, code.back().limit);
      }
      each.eh_frame = EhFrame{};
      each.known = std::move(each.module);
    }
    rows += each.known->cfi.rows.size();
    snapshot->modules.push_back(each.known);
  }
  auto& modules = snapshot->modules;
  std::sort(modules.begin(), modules.end(),
            [](const auto& a, const auto& b) { return a->code[0].start < b->code[0].start; });
  for (const auto& module : modules) {
    if (!module->cfi.rows.empty()) snapshot->views.push_back(module->cfi.View());
  }
  snapshot->table.modules = snapshot->views.data();
  snapshot->table.module_count = static_cast<std::uint32_t>(snapshot->views.size());
  return snapshot;
}

}  // namespace

bool LoadedModule::FileOffset(std::uint64_t pc, std::uint64_t* offset) const {
  for (const CodeSegment& segment : code) {
    if (pc < segment.start || pc >= segment.limit) continue;
    *offset = pc - segment.start + segment.file_offset;
    return true;
  }
  return false;
}

const std::shared_ptr<const LoadedModule>* CodeSnapshot::Find(std::uint64_t pc) const {
  const auto after = std::upper_bound(
      modules.begin(), modules.end(), pc,
      [](std::uint64_t value, const auto& module) { return value < module->code[0].start; });
  if (after == modules.begin()) return nullptr;
  std::uint64_t offset;
  return (*(after - 1))->FileOffset(pc, &offset) ? &*(after - 1) : nullptr;
}

ModuleMap::~ModuleMap() {
  MutexLock lock(mutex_);
  if (current_ == nullptr) return;
  const raw::CodeTable* own = &current_->table;
  g_code_table.compare_exchange_strong(own, nullptr);
}

void ModuleMap::Refresh() {
  MutexLock lock(mutex_);
  FreeRetired();
  if (is_forked_ && current_ != nullptr) {
    g_code_table.store(&current_->table);
    return;
  }
  Search search;
  search.only_counts = true;
  dl_iterate_phdr(OnModule, &search);
  if (current_ != nullptr && search.adds == adds_ && search.subs == subs_) {
    g_code_table.store(&current_->table);
    return;
  }
  search.only_counts = false;
  search.before = current_.get();
  dl_iterate_phdr(OnModule, &search);
  adds_ = search.adds;
  subs_ = search.subs;
  Publish(Build(search.found));
}

void ModuleMap::Publish(std::shared_ptr<CodeSnapshot> next) {
  next->table.id = next_id_++;
  g_code_table.store(&next->table);
  if (current_ != nullptr) {
    Retired retired;
    retired.snapshot = std::move(current_);
    // A handler that starts from here on sees the new table; only those that run now matter.
    for (std::size_t i = 0; i < kSlotsMax; ++i) {
      if (SlotTid(i) == 0) continue;
      const std::uint64_t count = SlotAt(i).handler_count.load();
      if (count % 2 != 0) retired.busy.emplace_back(i, count);
    }
    retired_.push_back(std::move(retired));
  }
  current_ = std::move(next);
}

void ModuleMap::FreeRetired() {
  for (Retired& retired : retired_) {
    ++retired.refreshes;
    std::erase_if(retired.busy, [](const auto& each) {
      return SlotAt(each.first).handler_count.load() != each.second;
    });
  }
  std::erase_if(retired_, [](const Retired& retired) {
    return retired.busy.empty() && retired.refreshes > kRefreshesKept;
  });
}

void ModuleMap::AfterForkInChild() {
  for (Retired& retired : retired_) retired.busy.clear();
  is_forked_ = true;
  mutex_.Unlock();
}

std::shared_ptr<const CodeSnapshot> ModuleMap::Current() const {
  MutexLock lock(mutex_);
  return current_;
}

std::shared_ptr<const CodeSnapshot> ModuleMap::Get(std::uint64_t id) const {
  MutexLock lock(mutex_);
  for (const Retired& retired : retired_) {
    if (retired.snapshot->table.id == id) return retired.snapshot;
  }
  return current_;
}

std::size_t ModuleMap::retired_count() const {
  MutexLock lock(mutex_);
  return retired_.size();
}

}  // namespace hotspan::agent
