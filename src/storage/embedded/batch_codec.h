// A write batch as one record of the log: its rows and arenas as they lie in memory, so that
// writing costs a copy. The grammar is in docs/formats/storage.md.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "storage/engine.h"

namespace hotspan::storage::embedded {

void AppendBatch(std::string& out, const WriteBatch& batch);
// Refuses what AppendBatch can't have written.
Result<WriteBatch> ReadBatch(std::string_view bytes);

}  // namespace hotspan::storage::embedded
