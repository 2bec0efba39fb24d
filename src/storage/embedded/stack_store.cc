#include "storage/embedded/stack_store.h"

#include <algorithm>

#include "base/bytes.h"
#include "storage/source.h"

namespace hotspan::storage::embedded {
namespace {

constexpr std::uint8_t kInlined = 1, kSymbolized = 2;

std::uint32_t RoundUp(std::uint32_t number, std::uint32_t page) {
  return (number + page - 1) / page * page;
}

}  // namespace

std::span<const std::uint32_t> StackGeneration::Stack(std::uint32_t number) const {
  const std::size_t index = number - first_stack;
  const std::uint32_t begin = index == 0 ? 0 : stack_ends[index - 1];
  return std::span(stack_locations).subspan(begin, stack_ends[index] - begin);
}

std::string_view StackGeneration::Location(std::uint32_t number) const {
  const std::size_t index = number - first_location;
  const std::uint32_t begin = index == 0 ? 0 : location_ends[index - 1];
  return std::string_view(location_bytes).substr(begin, location_ends[index] - begin);
}

void AppendFrameBytes(std::string& out, const std::vector<Frame>& frames) {
  AppendVarint(out, frames.size());
  for (const Frame& frame : frames) {
    out += static_cast<char>((frame.inlined ? kInlined : 0) | (frame.symbolized ? kSymbolized : 0));
    AppendSized(out, frame.function);
    AppendSized(out, frame.file);
    AppendVarint(out, ZigZag(frame.line));
    AppendSized(out, frame.module);
    AppendSized(out, frame.build_id);
    AppendVarint(out, frame.address);
  }
}

void ReadFrameBytes(std::string_view bytes, std::vector<Frame>& frames) {
  ByteReader reader(bytes);
  const std::uint64_t count = reader.Varint();
  for (std::uint64_t i = 0; i < count && !reader.failed(); ++i) {
    Frame frame;
    const auto flags = reader.Raw<std::uint8_t>();
    frame.inlined = (flags & kInlined) != 0;
    frame.symbolized = (flags & kSymbolized) != 0;
    frame.function = reader.Sized();
    frame.file = reader.Sized();
    frame.line = static_cast<std::int32_t>(reader.SignedVarint());
    frame.module = reader.Sized();
    frame.build_id = reader.Sized();
    frame.address = reader.Varint();
    if (!reader.failed()) frames.push_back(std::move(frame));
  }
}

std::string EncodeStackPage(const StackGeneration& generation, std::uint32_t page) {
  std::string out;
  const std::uint32_t first = page * kStacksPerPage;
  const auto end = static_cast<std::uint32_t>(
      std::min<std::size_t>(first + kStacksPerPage, generation.first_stack + generation.stacks()));
  std::string entry;
  for (std::uint32_t number = first; number < end; ++number) {
    entry.clear();
    std::int64_t before = 0;
    for (const std::uint32_t location : generation.Stack(number)) {
      AppendVarint(entry, ZigZag(std::int64_t{location} - before));
      before = location;
    }
    AppendSized(out, entry);
  }
  return out;
}

std::vector<std::vector<std::uint32_t>> DecodeStackPage(std::string_view bytes) {
  std::vector<std::vector<std::uint32_t>> stacks;
  ByteReader reader(bytes);
  while (!reader.AtEnd()) {
    ByteReader entry(reader.Sized());
    auto& stack = stacks.emplace_back();
    std::int64_t number = 0;
    while (!entry.AtEnd()) {
      number += entry.SignedVarint();
      stack.push_back(static_cast<std::uint32_t>(number));
    }
  }
  return stacks;
}

std::string EncodeLocationPage(const StackGeneration& generation, std::uint32_t page) {
  std::string out;
  const std::uint32_t first = page * kLocationsPerPage;
  const auto end = static_cast<std::uint32_t>(std::min<std::size_t>(
      first + kLocationsPerPage, generation.first_location + generation.locations()));
  for (std::uint32_t number = first; number < end; ++number) {
    AppendSized(out, generation.Location(number));
  }
  return out;
}

std::vector<std::vector<Frame>> DecodeLocationPage(std::string_view bytes) {
  std::vector<std::vector<Frame>> locations;
  ByteReader reader(bytes);
  while (!reader.AtEnd()) ReadFrameBytes(reader.Sized(), locations.emplace_back());
  return locations;
}

StackInterner::StackInterner(std::uint32_t next_stack, std::uint32_t next_location) {
  current_.first_stack = RoundUp(next_stack, kStacksPerPage);
  current_.first_location = RoundUp(next_location, kLocationsPerPage);
}

void StackInterner::StartEpochIfFull() {
  if (stack_numbers_.size() < kIdentitiesMax && location_numbers_.size() < kIdentitiesMax) return;
  stack_numbers_.Clear();
  location_numbers_.Clear();
}

std::vector<std::uint32_t> StackInterner::Intern(const SampleBatch& batch) {
  std::vector<Hash128> identities(batch.locations.size());
  for (std::size_t i = 0; i < identities.size(); ++i) {
    identities[i] = LocationIdentity(batch, batch.locations[i]);
  }
  std::vector<std::uint32_t> locations(identities.size());
  std::vector<std::uint32_t> numbers(batch.stacks.size());
  std::vector<std::uint32_t> key;
  std::vector<Frame> frames;

  MutexLock lock(mutex_);
  StartEpochIfFull();
  for (std::size_t i = 0; i < identities.size(); ++i) {
    const auto fresh = static_cast<std::uint32_t>(current_.first_location + current_.locations());
    locations[i] = location_numbers_.FindOrInsert(identities[i], fresh);
    if (locations[i] != HashNumberMap::kNone) continue;
    locations[i] = fresh;
    frames.clear();
    AppendFrames(batch, batch.locations[i], frames);
    AppendFrameBytes(current_.location_bytes, frames);
    current_.location_ends.push_back(static_cast<std::uint32_t>(current_.location_bytes.size()));
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const StackRow& stack = batch.stacks[i];
    key.resize(stack.location_count);
    for (std::uint32_t j = 0; j < stack.location_count; ++j) {
      key[j] = locations[batch.stack_locations[stack.first_location + j]];
    }
    const auto fresh = static_cast<std::uint32_t>(current_.first_stack + current_.stacks());
    numbers[i] =
        stack_numbers_.FindOrInsert(Hash128Of(BytesOfArray(key.data(), key.size())), fresh);
    if (numbers[i] != HashNumberMap::kNone) continue;
    numbers[i] = fresh;
    current_.stack_locations.insert(current_.stack_locations.end(), key.begin(), key.end());
    current_.stack_ends.push_back(static_cast<std::uint32_t>(current_.stack_locations.size()));
  }
  return numbers;
}

std::shared_ptr<const StackGeneration> StackInterner::Freeze() {
  MutexLock lock(mutex_);
  StackGeneration next;
  next.first_stack =
      RoundUp(static_cast<std::uint32_t>(current_.first_stack + current_.stacks()), kStacksPerPage);
  next.first_location =
      RoundUp(static_cast<std::uint32_t>(current_.first_location + current_.locations()),
              kLocationsPerPage);
  frozen_ = std::make_shared<const StackGeneration>(std::move(current_));
  current_ = std::move(next);
  return frozen_;
}

void StackInterner::Release() {
  MutexLock lock(mutex_);
  frozen_.reset();
}

bool StackInterner::FindStack(std::uint32_t number, std::vector<std::uint32_t>& locations) const {
  MutexLock lock(mutex_);
  const StackGeneration* const generations[] = {&current_, frozen_.get()};
  for (const StackGeneration* generation : generations) {
    if (generation == nullptr || number < generation->first_stack ||
        number - generation->first_stack >= generation->stacks()) {
      continue;
    }
    const auto found = generation->Stack(number);
    locations.assign(found.begin(), found.end());
    return true;
  }
  return false;
}

bool StackInterner::FindLocation(std::uint32_t number, std::vector<Frame>& frames) const {
  MutexLock lock(mutex_);
  const StackGeneration* const generations[] = {&current_, frozen_.get()};
  for (const StackGeneration* generation : generations) {
    if (generation == nullptr || number < generation->first_location ||
        number - generation->first_location >= generation->locations()) {
      continue;
    }
    ReadFrameBytes(generation->Location(number), frames);
    return true;
  }
  return false;
}

std::uint32_t StackInterner::next_stack() const {
  MutexLock lock(mutex_);
  return static_cast<std::uint32_t>(current_.first_stack + current_.stacks());
}

std::size_t StackInterner::bytes() const {
  MutexLock lock(mutex_);
  const auto size = [](const StackGeneration& generation) {
    return generation.location_bytes.size() +
           sizeof(std::uint32_t) *
               (generation.stack_locations.size() + generation.stacks() + generation.locations());
  };
  return size(current_) + (frozen_ ? size(*frozen_) : 0);
}

}  // namespace hotspan::storage::embedded
