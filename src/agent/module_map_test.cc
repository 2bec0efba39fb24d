#include "agent/module_map.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "agent/signal/handler.h"
#include "agent/unwind/unwind.h"

namespace hotspan::agent {
namespace {

template <typename F>
std::uint64_t AddressOf(F* function) {
  return reinterpret_cast<std::uint64_t>(function);
}

TEST(ModuleMap, TableCoversLibcAndTheProgram) {
  ModuleMap map;
  map.Refresh();
  const auto snapshot = map.Current();
  ASSERT_NE(snapshot, nullptr);
  for (const std::uint64_t pc : {AddressOf(&qsort), AddressOf(&read), AddressOf(&std::printf),
                                 AddressOf(&pthread_mutex_lock), AddressOf(&FindRow)}) {
    const CfiRow* row = FindRow(snapshot->table, pc);
    ASSERT_NE(row, nullptr);
    // On entry the return address alone is on the stack.
    EXPECT_EQ(row->rule(), CfaRule::kSp);
    EXPECT_EQ(row->cfa_offset(), 8);
  }
  for (const auto& module : snapshot->modules) {
    EXPECT_LE(module->cfi.unsupported_count * 100, module->cfi.rows.size() + 100) << module->path;
    if (module->path.find("libc.so") == std::string::npos) continue;
    EXPECT_GT(module->cfi.function_count, 1000u);
    EXPECT_EQ(module->build_id.size(), 40u);
  }
}

TEST(ModuleMap, FollowsModulesThatComeAndGo) {
  ModuleMap map;
  map.Refresh();
  const auto before = map.Current();
  map.Refresh();
  EXPECT_EQ(map.Current(), before);
  void* module = dlopen(HOTSPAN_TEST_MODULE, RTLD_NOW);
  ASSERT_NE(module, nullptr);
  const std::uint64_t pc =
      reinterpret_cast<std::uint64_t>(dlsym(module, "hotspan_test_module_call"));
  EXPECT_EQ(before->Find(pc), nullptr);
  map.Refresh();
  const auto loaded = map.Current();
  ASSERT_NE(loaded->Find(pc), nullptr);
  EXPECT_EQ((*loaded->Find(pc))->path, HOTSPAN_TEST_MODULE);
  EXPECT_NE(FindRow(loaded->table, pc), nullptr);
  EXPECT_EQ(g_code_table.load(), &loaded->table);
  // What stays is not compiled again.
  EXPECT_EQ(*loaded->Find(AddressOf(&qsort)), *before->Find(AddressOf(&qsort)));
  EXPECT_EQ(map.Get(before->table.id), before);
  dlclose(module);
  map.Refresh();
  EXPECT_EQ(map.Current()->Find(pc), nullptr);
}

TEST(ModuleMap, KeepsAReplacedTableAsLongAsAHandlerMayReadIt) {
  ModuleMap map;
  map.Refresh();
  bool is_new = false;
  ThreadSlot* slot = ClaimSlot(1, &is_new);
  ASSERT_NE(slot, nullptr);
  slot->handler_count.fetch_add(1);  // as if a handler ran on it
  void* module = dlopen(HOTSPAN_TEST_MODULE, RTLD_NOW);
  map.Refresh();
  for (int i = 0; i < 10; ++i) map.Refresh();
  EXPECT_EQ(map.retired_count(), 1u);
  slot->handler_count.fetch_add(1);
  map.Refresh();
  EXPECT_EQ(map.retired_count(), 0u);
  ReleaseSlot(slot);
  dlclose(module);
}

}  // namespace
}  // namespace hotspan::agent
