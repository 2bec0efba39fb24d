#include "agent/signal/handler.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>

#include "base/raw/syscalls.h"

namespace hotspan::agent {
namespace {

raw::StackView g_seen_stack;

// Reports what it was given: two frames.
std::uint32_t TestWalk(const raw::CodeTable&, const raw::Registers& registers,
                       const raw::StackView& stack, std::uint64_t* frames, std::uint32_t,
                       std::uint8_t* end) {
  g_seen_stack = stack;
  frames[0] = registers.pc;
  frames[1] = registers.sp;
  *end = 3;
  errno = EDOM;  // the handler must not let this out
  return 2;
}

class Handler : public testing::Test {
 protected:
  void SetUp() override {
    signal_ = InstallHandler(TestWalk);
    ASSERT_NE(signal_, 0);
    g_code_table.store(&table_);
    bool is_new = false;
    slot_ = ClaimSlot(raw::GetTid(), &is_new);
    ASSERT_NE(slot_, nullptr);
    slot_->ring.store(ring_.get());
    slot_->state.store(SlotState::kSampled);
    SetCurrentSlot(nullptr);
  }
  void TearDown() override {
    g_code_table.store(nullptr);
    ReleaseAllSlots();
  }

  void Signal(std::uint64_t weight, std::uint32_t pid = raw::GetPid()) {
    siginfo_t info{};
    info.si_signo = signal_;
    info.si_code = SI_QUEUE;
    info.si_pid = static_cast<pid_t>(pid);
    info.si_value.sival_ptr = reinterpret_cast<void*>(weight);
    ucontext_t context{};
    context.uc_mcontext.gregs[REG_RIP] = 0x1234;
    context.uc_mcontext.gregs[REG_RSP] = reinterpret_cast<long long>(&context);
    HandleSampleSignal(signal_, &info, &context);
  }
  const RingSample* Front() {
    std::size_t words = 0;
    return reinterpret_cast<const RingSample*>(ring_->Front(&words));
  }

  raw::CodeTable table_{77};
  std::unique_ptr<SampleRing> ring_{new SampleRing()};
  ThreadSlot* slot_ = nullptr;
  int signal_ = 0;
};

TEST_F(Handler, WritesContextWeightAndFramesAndKeepsErrno) {
  const std::uint8_t trace[16] = {9, 8, 7};
  const std::uint8_t span[8] = {6, 5};
  PublishContext(trace, span, 1);
  errno = ERANGE;
  Signal(4711);
  EXPECT_EQ(errno, ERANGE);
  ClearContext();
  const RingSample* sample = Front();
  ASSERT_NE(sample, nullptr);
  EXPECT_EQ(sample->weight_ns, 4711u);
  EXPECT_EQ(sample->table_id, 77u);
  EXPECT_EQ(sample->has_context, 1);
  EXPECT_EQ(sample->trace_id[2], 7);
  EXPECT_EQ(sample->span_id[1], 5);
  EXPECT_EQ(sample->thread_id, raw::GetTid());
  EXPECT_EQ(sample->walk_end, 3);
  ASSERT_EQ(sample->frame_count, 2);
  const auto* frames = reinterpret_cast<const std::uint64_t*>(sample) + kRingSampleWords;
  EXPECT_EQ(frames[0], 0x1234u);
  EXPECT_EQ(slot_->taken.load(), 1u);
  EXPECT_EQ(slot_->handler_count.load() % 2, 0u);
}

TEST_F(Handler, ReadsAnUnknownStackByACopy) {
  Signal(1);
  EXPECT_NE(g_seen_stack.delta, 0u);
  EXPECT_GT(g_seen_stack.high, g_seen_stack.low);
  EXPECT_NE(slot_->foreign_sp.load(), 0u);
  slot_->stack_low.store(1);
  slot_->stack_high.store(~std::uint64_t{0});
  Signal(1);
  EXPECT_EQ(g_seen_stack.delta, 0u);
}

TEST_F(Handler, CountsWhatTheRingHasNoRoomFor) {
  for (int i = 0; i < 5000; ++i) Signal(1);
  EXPECT_EQ(slot_->taken.load() + slot_->dropped.load(), 5000u);
  EXPECT_GT(slot_->taken.load(), 2000u);
  EXPECT_GT(slot_->dropped.load(), 0u);
}

TEST_F(Handler, LeavesThreadsAloneThatAreNotSampled) {
  slot_->state.store(SlotState::kExited);
  Signal(1);
  slot_->state.store(SlotState::kSampled);
  Signal(1, 1);  // from another process
  EXPECT_EQ(Front(), nullptr);
  SetCurrentSlot(nullptr);
  ReleaseAllSlots();
  const std::uint64_t before = g_strangers.load();
  Signal(1);
  EXPECT_EQ(g_strangers.load(), before + 1);
}

TEST_F(Handler, TakesASignalThatNobodyHandles) {
  EXPECT_GE(signal_, SIGRTMIN);
  EXPECT_LE(signal_, SIGRTMAX);
  EXPECT_EQ(InstallHandler(TestWalk), signal_);
  struct sigaction mine{};
  struct sigaction before{};
  mine.sa_handler = SIG_IGN;
  sigaction(signal_, &mine, &before);
  EXPECT_NE(InstallHandler(TestWalk), signal_);
  sigaction(signal_, &before, nullptr);
}

#if !defined(HOTSPAN_SANITIZED)
TEST_F(Handler, TakesASampleWhenTheThreadIsSignalled) {
  syscall(SYS_tgkill, getpid(), static_cast<pid_t>(raw::GetTid()), signal_);
  ASSERT_NE(Front(), nullptr);
  EXPECT_EQ(Front()->frame_count, 2);
}
#endif

TEST(NextPeriod, VariesAroundTheMean) {
  ThreadSlot slot{};
  const std::uint64_t mean = g_period_ns.load();
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t period = NextPeriod(&slot);
    ASSERT_GE(period, mean / 2);
    ASSERT_LT(period, mean / 2 + mean);
    sum += static_cast<double>(period);
  }
  // One sigma of the mean of 10000 is 0.0029.
  EXPECT_NEAR(sum / 10000 / static_cast<double>(mean), 1.0, 0.02);
}

}  // namespace
}  // namespace hotspan::agent
