#include "agent/wait_sampler.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "agent/hrtimer_sampler.h"
#include "agent/profiler_test_support.h"
#include "base/raw/syscalls.h"

namespace hotspan::agent {
namespace {

TEST(ParseBlockedCall, TakesWhatTheKernelWrites) {
  BlockedCall call;
  ASSERT_TRUE(
      ParseBlockedCall("202 0x7f01 0x189 0x0 0x0 0x0 0xffffffff 0x7ffd10 0x7f2233\n", &call));
  EXPECT_EQ(call.number, SYS_futex);
  EXPECT_EQ(call.arguments[0], 0x7f01u);
  EXPECT_EQ(call.arguments[5], 0xffffffffu);
  EXPECT_EQ(call.sp, 0x7ffd10u);
  EXPECT_EQ(call.pc, 0x7f2233u);
  ASSERT_TRUE(ParseBlockedCall("-1 0x7ffd10 0x7f2233\n", &call));
  EXPECT_EQ(call.number, -1);
  EXPECT_EQ(call.pc, 0x7f2233u);
  for (const char* text : {"", "running\n", "202", "202 0x1 0x2", "-1", "-1 0x1", "x 0x1"}) {
    EXPECT_FALSE(ParseBlockedCall(text, &call)) << text;
  }
}

TEST(DescribeWait, NamesKindCallAndWhatItIsDoneTo) {
  BlockedCall call;
  call.number = SYS_clock_nanosleep;
  EXPECT_EQ(DescribeWait(call), "[sleep] clock_nanosleep");
  call.number = SYS_futex;
  EXPECT_EQ(DescribeWait(call), "[lock] futex");
  call.number = SYS_epoll_wait;
  EXPECT_EQ(DescribeWait(call), "[wait] epoll_wait");
  call.number = 9999;
  EXPECT_EQ(DescribeWait(call), "[syscall] syscall 9999");
  call.number = -1;
  EXPECT_EQ(DescribeWait(call), "[io] page fault");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  call.number = SYS_read;
  call.arguments[0] = static_cast<std::uint64_t>(ends[0]);
  EXPECT_EQ(DescribeWait(call), "[io] read pipe");
  close(ends[0]);
  close(ends[1]);
  const int file = open("/etc/passwd", O_RDONLY);
  call.number = SYS_pread64;
  call.arguments[0] = static_cast<std::uint64_t>(file);
  EXPECT_EQ(DescribeWait(call), "[io] pread64 /etc/passwd");
  close(file);
}

TEST(DescribeWait, NamesThePeerOfASocket) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), size), 0);
  BlockedCall call;
  call.arguments[0] = static_cast<std::uint64_t>(client);
  const std::string peer = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  call.number = SYS_recvfrom;
  EXPECT_EQ(DescribeWait(call), "[net] recvfrom " + peer);
  call.number = SYS_read;
  EXPECT_EQ(DescribeWait(call), "[net] read " + peer);
  close(client);
  close(listener);
}

// A thread that waits in a given way inside of a span until it is let go.
class Waiting {
 public:
  template <typename F>
  explicit Waiting(F wait)
      : thread_([this, wait] {
          const TestContext context(5);
          tid_.store(raw::GetTid());
          wait(go_);
          __asm__ volatile("");
        }) {
    while (tid_.load() == 0 || ThreadIsRunning(tid_.load())) std::this_thread::yield();
  }
  ~Waiting() {
    go_.Open();
    thread_.join();
    ReleaseSlot(FindSlot(tid_.load()));
  }

  struct Gate {
    Gate() { EXPECT_EQ(pipe(ends), 0); }
    ~Gate() {
      close(ends[0]);
      close(ends[1]);
    }
    void Open() {
      const std::lock_guard<std::mutex> lock(mutex);
      open = true;
      EXPECT_EQ(write(ends[1], "x", 1), 1);
      changed.notify_all();
    }
    int ends[2];
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
  };

 private:
  Gate go_;
  std::atomic<std::uint32_t> tid_{0};
  std::thread thread_;
};

class WaitSamplerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!ThreadStatesAreReadable()) GTEST_SKIP() << "/proc/self/task is hidden";
    modules_.Refresh();
  }
  void TearDown() override { ReleaseAllSlots(); }

  // One round, and the chunk it gives.
  ProfileChunk Look() {
    sampler_.Tick(1'000'000, 5'000'000);
    return builder_.Take(names_);
  }
  // The one sample of a blocked thread, found within a few rounds: it may have been interrupted.
  ProfileChunk LookForBlocked() {
    for (int i = 0; i < 1000; ++i) {
      ProfileChunk chunk = Look();
      std::erase_if(chunk.samples, [&chunk](const CollectedSample& sample) {
        return CountFrames(chunk, sample, "[runnable]") > 0;
      });
      if (!chunk.samples.empty()) return chunk;
    }
    return {};
  }

  ModuleMap modules_;
  ChunkBuilder builder_;
  FunctionNames names_;
  WaitSampler sampler_{modules_, builder_};
};

NOINLINE void WaitInRead(Waiting::Gate& gate) {
  char byte;
  EXPECT_EQ(read(gate.ends[0], &byte, 1), 1);
  __asm__ volatile("");
}

TEST_F(WaitSamplerTest, SeesABlockedReadWithItsCallersAndSpan) {
  const Waiting waiting(WaitInRead);
  const ProfileChunk chunk = LookForBlocked();
  ASSERT_EQ(chunk.samples.size(), 1u);
  const CollectedSample& sample = chunk.samples[0];
  EXPECT_EQ(sample.kind, SampleKind::kOffCpu);
  EXPECT_EQ(sample.value_ns, 5'000'000);
  EXPECT_EQ(sample.span_id[2], 5);
  EXPECT_EQ(sample.trace_id[2], 5);
  EXPECT_EQ(chunk.locations[chunk.stacks[sample.stack][0]].function, "[io] read pipe");
  EXPECT_EQ(CountFrames(chunk, sample, "WaitInRead"), 1) << StackText(chunk, sample);
  // The same wait again, without looking at its stack.
  const ProfileChunk again = LookForBlocked();
  ASSERT_EQ(again.samples.size(), 1u);
  EXPECT_EQ(StackText(again, again.samples[0]), StackText(chunk, sample));
}

// Room of a size that only the caller knows takes a frame pointer.
NOINLINE void WaitWithFramePointer(Waiting::Gate& gate, std::size_t size) {
  volatile char* room = static_cast<volatile char*>(__builtin_alloca(size));
  room[0] = 1;
  WaitInRead(gate);
  room[size - 1] = 1;
}

TEST_F(WaitSamplerTest, FindsLostFramePointersAgain) {
  const Waiting waiting([](Waiting::Gate& gate) { WaitWithFramePointer(gate, 200); });
  const ProfileChunk chunk = LookForBlocked();
  ASSERT_EQ(chunk.samples.size(), 1u);
  EXPECT_EQ(CountFrames(chunk, chunk.samples[0], "WaitWithFramePointer"), 1)
      << StackText(chunk, chunk.samples[0]);
  // From there on to the start of the thread.
  const CodeLocation& last = chunk.locations[chunk.stacks[chunk.samples[0].stack].back()];
  ASSERT_NE(last.module, kNoModule);
  EXPECT_NE(chunk.modules[last.module].path.find("libc.so"), std::string::npos)
      << StackText(chunk, chunk.samples[0]);
}

TEST_F(WaitSamplerTest, TellsConditionsFromLocks) {
  {
    const Waiting waiting([](Waiting::Gate& gate) {
      std::unique_lock<std::mutex> lock(gate.mutex);
      gate.changed.wait(lock, [&gate] { return gate.open; });
    });
    const ProfileChunk chunk = LookForBlocked();
    ASSERT_EQ(chunk.samples.size(), 1u);
    EXPECT_EQ(chunk.locations[chunk.stacks[chunk.samples[0].stack][0]].function, "[wait] futex")
        << StackText(chunk, chunk.samples[0]);
  }
  ReleaseAllSlots();
  std::mutex mutex;
  mutex.lock();
  {
    const Waiting waiting(
        [&mutex](Waiting::Gate&) { const std::lock_guard<std::mutex> lock(mutex); });
    const ProfileChunk chunk = LookForBlocked();
    ASSERT_EQ(chunk.samples.size(), 1u);
    EXPECT_EQ(chunk.locations[chunk.stacks[chunk.samples[0].stack][0]].function, "[lock] futex")
        << StackText(chunk, chunk.samples[0]);
    mutex.unlock();
  }
}

TEST_F(WaitSamplerTest, InterruptsNoCall) {
  // All of these end early when a signal comes.
  int result = 0;
  {
    const Waiting waiting([&result](Waiting::Gate& gate) {
      pollfd fd{gate.ends[0], POLLIN, 0};
      result = poll(&fd, 1, -1);
    });
    const ProfileChunk chunk = LookForBlocked();
    for (int i = 0; i < 50; ++i) Look();
    ASSERT_EQ(chunk.samples.size(), 1u);
    EXPECT_EQ(chunk.locations[chunk.stacks[chunk.samples[0].stack][0]].function, "[wait] poll");
  }
  EXPECT_EQ(result, 1);
  int events = 0;
  {
    const Waiting waiting([&events](Waiting::Gate& gate) {
      const int poller = epoll_create1(EPOLL_CLOEXEC);
      epoll_event event{};
      event.events = EPOLLIN;
      epoll_ctl(poller, EPOLL_CTL_ADD, gate.ends[0], &event);
      events = epoll_wait(poller, &event, 1, -1);
      close(poller);
    });
    const ProfileChunk chunk = LookForBlocked();
    for (int i = 0; i < 50; ++i) Look();
    ASSERT_EQ(chunk.samples.size(), 1u);
    EXPECT_EQ(chunk.locations[chunk.stacks[chunk.samples[0].stack][0]].function,
              "[wait] epoll_wait");
  }
  EXPECT_EQ(events, 1);
}

TEST_F(WaitSamplerTest, SeesASleepAndLetsItSleep) {
  std::atomic<int> rest{-1};
  std::atomic<bool> sleeps{false};
  std::thread sleeper([&] {
    const TestContext context(5);
    sleeps.store(true);
    timespec pause{0, 300'000'000};
    rest.store(nanosleep(&pause, nullptr) == 0 ? 0 : errno);
  });
  while (!sleeps.load()) std::this_thread::yield();
  const ProfileChunk chunk = LookForBlocked();
  sleeper.join();
  EXPECT_EQ(rest.load(), 0);
  ASSERT_EQ(chunk.samples.size(), 1u);
  EXPECT_EQ(chunk.locations[chunk.stacks[chunk.samples[0].stack][0]].function,
            "[sleep] clock_nanosleep");
}

TEST_F(WaitSamplerTest, LooksAtNoThreadOutsideOfASpan) {
  const Waiting waiting([](Waiting::Gate& gate) {
    ClearContext();
    WaitInRead(gate);
  });
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Look().samples.empty());
}

}  // namespace
}  // namespace hotspan::agent
