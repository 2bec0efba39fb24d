// Decoded pages of stacks and of locations, the most recently used of each up to a number of pages.
//
// Threads: all methods from any thread; pages are immutable snapshots.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "model/stack.h"

namespace hotspan::storage::embedded {

template <typename Page>
class LruPages {
 public:
  explicit LruPages(std::size_t pages_max) : pages_max_(pages_max) {}

  std::shared_ptr<const Page> Find(std::uint32_t number) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto found = by_number_.find(number);
    if (found == by_number_.end()) return nullptr;
    pages_.splice(pages_.begin(), pages_, found->second);
    return found->second->second;
  }

  void Put(std::uint32_t number, std::shared_ptr<const Page> page) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (by_number_.contains(number)) return;
    pages_.emplace_front(number, std::move(page));
    by_number_[number] = pages_.begin();
    if (pages_.size() <= pages_max_) return;
    by_number_.erase(pages_.back().first);
    pages_.pop_back();
  }

 private:
  const std::size_t pages_max_;
  Mutex mutex_;
  std::list<std::pair<std::uint32_t, std::shared_ptr<const Page>>> pages_ GUARDED_BY(mutex_);
  std::unordered_map<std::uint32_t, typename decltype(pages_)::iterator> by_number_
      GUARDED_BY(mutex_);
};

using StackPage = std::vector<std::vector<std::uint32_t>>;
using LocationPage = std::vector<std::vector<Frame>>;

struct PageCache {
  // About 64 stacks of 25 numbers, and 128 locations of 200 bytes, a page: 32 and 50 MiB at most.
  LruPages<StackPage> stacks{4096};
  LruPages<LocationPage> locations{2048};
};

}  // namespace hotspan::storage::embedded
