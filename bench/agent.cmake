# Figures of libhotspan's sampling half; included by CMakeLists.txt of this folder.
find_package(benchmark REQUIRED)
add_executable(hotspan_bench_agent ${CMAKE_CURRENT_LIST_DIR}/agent_bench.cc)
target_include_directories(hotspan_bench_agent PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(hotspan_bench_agent PRIVATE hotspan::agent_profiler hotspan_warnings
  benchmark::benchmark)
