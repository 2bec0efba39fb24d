# The sampling half of libhotspan; included by CMakeLists.txt of this folder.
hotspan_library(agent_profiler
  SOURCES cfi_compiler.cc chunk_builder.cc elf_symbols.cc hrtimer_sampler.cc lock_interpose.cc module_map.cc
    perf_timer.cc profiler.cc syscall_names.cc thread_interpose.cc thread_registry.cc
    wait_sampler.cc
  DEPS hotspan::base hotspan::agent_signal hotspan::agent_unwind Threads::Threads ${CMAKE_DL_LIBS}
  TESTS cfi_compiler_test.cc elf_symbols_test.cc lock_profile_test.cc module_map_test.cc profiler_test.cc
    wait_sampler_test.cc)
# A lock is taken straight through the table of addresses, which is filled before anything runs.
set_source_files_properties(lock_interpose.cc PROPERTIES COMPILE_OPTIONS -fno-plt)

if(TARGET hotspan_agent_profiler_test)
  add_library(hotspan_test_module MODULE test_module.c)
  target_compile_options(hotspan_test_module PRIVATE -O1 -fomit-frame-pointer)
  add_dependencies(hotspan_agent_profiler_test hotspan_test_module)
  target_compile_definitions(hotspan_agent_profiler_test PRIVATE
    HOTSPAN_TEST_MODULE="$<TARGET_FILE:hotspan_test_module>")
  # The walk must not need frame pointers, nor what sanitizers put around calls.
  set_source_files_properties(lock_profile_test.cc profiler_test.cc wait_sampler_test.cc PROPERTIES COMPILE_OPTIONS
    "-O1;-fomit-frame-pointer")
endif()
