// The write-ahead log: numbered segments of checksummed records, synced before they are
// acknowledged.
//
// A segment is "HSLOG001", then records: size (4), checksum (8, XXH3 of the payload), payload.
// After a failed append the segment is never written again, so a torn record can only be the last
// of its segment and was never acknowledged.
//
// Threads: one writer at a time (the engine's group leader); Owns: the open segment.
#pragma once

#include <rocksdb/env.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hotspan::storage::embedded {

class WriteLog {
 public:
  struct Replayed {
    std::uint64_t records = 0;
    std::uint64_t torn_bytes = 0;  // of records that were never acknowledged, or damaged
  };

  // `folder` is made if it is not there.
  static Result<std::unique_ptr<WriteLog>> Open(rocksdb::Env* env, std::string folder);

  // Gives every intact record of segments from `first` on to `sink`, oldest first. Call before the
  // first append.
  Result<Replayed> Replay(std::uint64_t first, const std::function<Status(std::string_view)>& sink);

  // Frames a record for Append.
  static void AppendRecord(std::string& out, std::string_view payload);

  // Writes framed records and syncs; on an error nothing of them may be acknowledged.
  Status Append(std::string_view records);

  // Later records go to a new segment, whose number is returned.
  Result<std::uint64_t> Rotate();
  // Deletes segments before `segment`.
  Status DeleteBefore(std::uint64_t segment);

  std::uint64_t bytes() const { return bytes_; }

 private:
  WriteLog(rocksdb::Env* env, std::string folder) : env_(env), folder_(std::move(folder)) {}
  std::string PathOf(std::uint64_t segment) const;
  Result<std::vector<std::uint64_t>> Segments() const;
  Result<Replayed> ReplaySegment(std::uint64_t segment,
                                 const std::function<Status(std::string_view)>& sink);

  rocksdb::Env* env_;
  std::string folder_;
  std::unique_ptr<rocksdb::WritableFile> file_;  // null: the next append opens a new segment
  std::uint64_t next_segment_ = 1;
  std::uint64_t bytes_ = 0;  // in the open segment
};

// Maps RocksDB's answer: no space and I/O errors are retryable, corruption is data loss.
Status FromRocks(const rocksdb::Status& status, std::string_view context);

}  // namespace hotspan::storage::embedded
