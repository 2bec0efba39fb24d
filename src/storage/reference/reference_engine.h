// The reference engine: vectors and loops, obviously right. It is the oracle of the tests and keeps
// nothing when it ends.
#pragma once

#include <memory>

#include "base/clock.h"
#include "storage/engine.h"

namespace hotspan::storage {

// `clock` must outlive the engine.
std::unique_ptr<Engine> MakeReferenceEngine(const Clock& clock);

}  // namespace hotspan::storage
