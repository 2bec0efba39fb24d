// Stacks and locations as dense numbers: assigned in memory when a batch is written, kept on disk
// in pages once they are cut.
//
// Identities live in memory only, for one epoch (until restart, a day, or two million stacks).
// After that the same stack gets a new number: readers merge by frames, so numbers need not be
// unique, and neither start-up nor memory grows with history.
//
// Threads: Intern, Read and Freeze may be called from any thread; one Freeze at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "model/sample.h"
#include "model/stack.h"
#include "storage/embedded/flat_map.h"

namespace hotspan::storage::embedded {

// Stacks to a page, and locations to a page: small enough to decode for one stack.
inline constexpr std::uint32_t kStacksPerPage = 64;
inline constexpr std::uint32_t kLocationsPerPage = 128;

// Stacks and locations with consecutive numbers, in the order of numbers.
struct StackGeneration {
  std::uint32_t first_stack = 0;
  std::uint32_t first_location = 0;
  std::vector<std::uint32_t> stack_ends;       // end of each in stack_locations
  std::vector<std::uint32_t> stack_locations;  // numbers, leaf first
  std::vector<std::uint32_t> location_ends;    // end of each in location_bytes
  std::string location_bytes;                  // as AppendFrameBytes writes them

  std::size_t stacks() const { return stack_ends.size(); }
  std::size_t locations() const { return location_ends.size(); }
  std::span<const std::uint32_t> Stack(std::uint32_t number) const;
  std::string_view Location(std::uint32_t number) const;
};

// A location's frames, innermost first, as bytes, and back; damaged bytes give what is intact.
void AppendFrameBytes(std::string& out, const std::vector<Frame>& frames);
void ReadFrameBytes(std::string_view bytes, std::vector<Frame>& frames);

// Pages as stored: for each of the page's stacks (or locations) a sized entry.
std::string EncodeStackPage(const StackGeneration& generation, std::uint32_t page);
std::vector<std::vector<std::uint32_t>> DecodeStackPage(std::string_view bytes);
std::string EncodeLocationPage(const StackGeneration& generation, std::uint32_t page);
std::vector<std::vector<Frame>> DecodeLocationPage(std::string_view bytes);

class StackInterner {
 public:
  static constexpr std::size_t kIdentitiesMax = 2'000'000;

  StackInterner(std::uint32_t next_stack, std::uint32_t next_location);

  // The numbers of the batch's stacks, in its order.
  std::vector<std::uint32_t> Intern(const SampleBatch& batch) EXCLUDES(mutex_);

  // Closes the current generation: numbers from here on start at fresh pages. The generation stays
  // readable until Release.
  std::shared_ptr<const StackGeneration> Freeze() EXCLUDES(mutex_);
  void Release() EXCLUDES(mutex_);

  // The locations of a stack that is in memory, or false.
  bool FindStack(std::uint32_t number, std::vector<std::uint32_t>& locations) const
      EXCLUDES(mutex_);
  bool FindLocation(std::uint32_t number, std::vector<Frame>& frames) const EXCLUDES(mutex_);

  std::uint32_t next_stack() const EXCLUDES(mutex_);
  std::size_t bytes() const EXCLUDES(mutex_);

 private:
  void StartEpochIfFull() REQUIRES(mutex_);

  mutable Mutex mutex_;
  HashNumberMap location_numbers_ GUARDED_BY(mutex_);
  HashNumberMap stack_numbers_ GUARDED_BY(mutex_);
  StackGeneration current_ GUARDED_BY(mutex_);
  std::shared_ptr<const StackGeneration> frozen_ GUARDED_BY(mutex_);
};

}  // namespace hotspan::storage::embedded
