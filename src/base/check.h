// CHECK and DCHECK: bugs end the program with the place and the condition. Never on user input.
#pragma once

namespace hotspan {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace hotspan

#define CHECK(condition) \
  ((condition) ? void(0) : ::hotspan::CheckFailed(__FILE__, __LINE__, #condition))

#ifdef NDEBUG
#define DCHECK(condition) void(0)
#else
#define DCHECK(condition) CHECK(condition)
#endif
