// Cuts a frozen head into blocks: sorts its rows by slice, encodes them, and writes one sorted
// table file for each column family, ready to be taken in by RocksDB at once.
//
// Threads: one cut at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "storage/embedded/head.h"
#include "storage/embedded/keys.h"
#include "storage/embedded/stack_store.h"

namespace hotspan::storage::embedded {

// Keys and values of one cut, by family. Keys are sorted when they are written.
class CutRows {
 public:
  void Put(Family family, std::string key, std::string value) {
    rows_[static_cast<std::size_t>(family)].emplace_back(std::move(key), std::move(value));
  }
  std::vector<std::pair<std::string, std::string>>& Of(Family family) {
    return rows_[static_cast<std::size_t>(family)];
  }

 private:
  std::vector<std::pair<std::string, std::string>> rows_[kFamilies];
};

// Numbers of type names, shared by all cuts of a folder.
using TypeNumbers = std::map<std::string, std::uint32_t, std::less<>>;

// Rows of everything in `head` and `stacks`, but the metadata. Types not seen before are added to
// `types`. Slices before the given ones are left out: retention has passed them.
CutRows CutHead(const Head& head, const StackGeneration& stacks, std::uint64_t cut,
                TypeNumbers& types, std::int64_t first_trace_slice,
                std::int64_t first_profile_slice);

// Catalog rows as stored, and back.
std::string EncodeCounts(const std::vector<OperationStats>& operations,
                         const std::vector<ProfileStats>& profiles);
bool DecodeCounts(std::string_view bytes, std::vector<OperationStats>& operations,
                  std::vector<ProfileStats>& profiles);
std::string EncodeTags(const SliceTags& tags);
bool DecodeTags(std::string_view bytes, SliceTags& tags);

// Where a trace's spans are within one cut: runs of rows. Begins with the newest slice (8 bytes).
struct TraceRun {
  std::int64_t slice = 0;
  std::uint32_t chunk = 0;
  std::uint32_t first_row = 0;
  std::uint32_t count = 0;
};
std::string EncodeTraceRuns(const std::vector<TraceRun>& runs);
bool DecodeTraceRuns(std::string_view bytes, std::vector<TraceRun>& runs);

}  // namespace hotspan::storage::embedded
