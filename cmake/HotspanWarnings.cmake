# One INTERFACE target that every target of ours links: the warnings of docs/style.md, as errors.
add_library(hotspan_warnings INTERFACE)
target_compile_options(hotspan_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough -Wundef -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports false positives of the last two inside of libstdc++ at -O2.
  target_compile_options(hotspan_warnings INTERFACE
    -Wduplicated-cond -Wlogical-op -Wuseless-cast -Wno-maybe-uninitialized -Wno-restrict)
else()
  target_compile_options(hotspan_warnings INTERFACE -Wthread-safety)
endif()
