// Counts operations and profile sources of batches by slice of time, for ReadCatalog.
//
// Threads: a value; one thread at a time.
#pragma once

#include <map>
#include <tuple>

#include "storage/engine.h"
#include "storage/source.h"

namespace hotspan::storage {

class CatalogCounter {
 public:
  using OperationKey = std::tuple<std::int64_t, std::string, std::string, SpanKind>;
  using ProfileKey =
      std::tuple<std::int64_t, std::string, std::string, std::string, std::string, std::string>;

  void Add(const SpanBatch& batch);
  void Add(const SampleBatch& batch);
  void Add(std::int64_t slice, const OperationStats& stats);
  void Add(std::int64_t slice, const ProfileStats& stats);

  // Keyed by slice, then by what tells entries apart.
  const std::map<OperationKey, OperationStats>& operations() const { return operations_; }
  const std::map<ProfileKey, ProfileStats>& profiles() const { return profiles_; }

  // Entries whose times touch the range, of one service or of all.
  Catalog Answer(const CatalogRequest& request) const;

 private:
  std::map<OperationKey, OperationStats> operations_;
  std::map<ProfileKey, ProfileStats> profiles_;
};

}  // namespace hotspan::storage
