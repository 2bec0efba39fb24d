// Keys of the column families. All begin with the tenant; numbers are big-endian so that they sort.
// Written down in docs/formats/storage.md.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "model/ids.h"
#include "model/span.h"

namespace hotspan::storage::embedded {

// In the order of their handles; the names are on disk.
enum class Family : std::size_t {
  kMeta = 0,   // RocksDB's default family
  kSpans,      // hot and wide chunks of spans
  kSamples,    // blocks of samples
  kTraces,     // trace id to rows
  kLinks,      // span id to samples
  kStacks,     // pages of stacks
  kLocations,  // pages of locations
  kCatalog,    // operations, profile sources and tags
};
inline constexpr const char* kFamilyNames[] = {"default", "spans",  "samples",   "traces",
                                               "links",   "stacks", "locations", "catalog"};
inline constexpr std::size_t kFamilies = std::size(kFamilyNames);

// Slices may be negative: biased so that they sort.
inline void AppendSlice(std::string& key, std::int64_t slice) {
  AppendBigEndian64(key, static_cast<std::uint64_t>(slice) ^ (std::uint64_t{1} << 63));
}
inline std::int64_t LoadSlice(const char* bytes) {
  return static_cast<std::int64_t>(LoadBigEndian64(bytes) ^ (std::uint64_t{1} << 63));
}

inline constexpr std::size_t kSlicePrefixBytes = 12;
inline std::string SlicePrefix(TenantId tenant, std::int64_t slice) {
  std::string key;
  AppendBigEndian32(key, static_cast<std::uint32_t>(tenant));
  AppendSlice(key, slice);
  return key;
}

// spans: tenant, slice, cut (8), chunk (4), part (1): 0 is hot, 1 + n the wide part n.
inline constexpr std::size_t kSpanKeyBytes = kSlicePrefixBytes + 13;
inline std::string SpanChunkKey(TenantId tenant, std::int64_t slice, std::uint64_t cut,
                                std::uint32_t chunk, std::uint8_t part) {
  std::string key = SlicePrefix(tenant, slice);
  AppendBigEndian64(key, cut);
  AppendBigEndian32(key, chunk);
  key += static_cast<char>(part);
  return key;
}

// samples: tenant, slice, sized service, sized type, cut (8), chunk (4).
inline std::string SampleBlockPrefix(TenantId tenant, std::int64_t slice, std::string_view service,
                                     std::string_view type) {
  std::string key = SlicePrefix(tenant, slice);
  AppendSized(key, service);
  AppendSized(key, type);
  return key;
}

// traces and links: tenant, id, cut (8).
inline std::string IdPrefix(TenantId tenant, std::string_view id) {
  std::string key;
  AppendBigEndian32(key, static_cast<std::uint32_t>(tenant));
  key.append(id);
  return key;
}

inline std::string PageKey(std::uint32_t page) {
  std::string key;
  AppendBigEndian32(key, page);
  return key;
}

// catalog: tenant, slice, cut (8), kind (1).
inline constexpr char kCatalogCounts = 'c';
inline constexpr char kCatalogTags = 't';

}  // namespace hotspan::storage::embedded
