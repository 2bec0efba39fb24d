#include "base/raw/spsc_ring.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace hotspan::raw {
namespace {

using Ring = SpscRing<64>;

// As in zeroed memory.
std::unique_ptr<Ring> NewRing() { return std::unique_ptr<Ring>(new Ring()); }

TEST(SpscRing, GivesRecordsBackInOrderOverTheEnd) {
  const auto ring = NewRing();
  std::uint64_t next_in = 0;
  std::uint64_t next_out = 0;
  for (int round = 0; round < 100; ++round) {
    while (std::uint64_t* words = ring->Reserve(7)) {
      words[1] = next_in++;
      ring->Commit(2 + next_in % 6);  // less than reserved
    }
    std::size_t size = 0;
    while (const std::uint64_t* words = ring->Front(&size)) {
      EXPECT_EQ(words[1], next_out);
      ++next_out;
      EXPECT_EQ(size, 2 + next_out % 6);
      ring->Pop();
    }
    EXPECT_EQ(next_in, next_out);
  }
  EXPECT_GT(next_in, 500u);
}

TEST(SpscRing, RefusesWhatWouldOverwriteUnreadRecords) {
  const auto ring = NewRing();
  ASSERT_NE(ring->Reserve(40), nullptr);
  ring->Commit(40);
  EXPECT_EQ(ring->Reserve(40), nullptr);
  EXPECT_NE(ring->Reserve(24), nullptr);
  std::size_t size = 0;
  ASSERT_NE(ring->Front(&size), nullptr);
  EXPECT_EQ(size, 40u);
  ring->Pop();
  EXPECT_EQ(ring->Front(&size), nullptr);
  EXPECT_NE(ring->Reserve(40), nullptr);
}

TEST(SpscRing, CarriesRecordsBetweenThreads) {
  const auto ring = NewRing();
  constexpr std::uint64_t kCount = 20000;
  std::thread writer([&ring] {
    for (std::uint64_t i = 0; i < kCount;) {
      std::uint64_t* words = ring->Reserve(5);
      if (words == nullptr) {
        std::this_thread::yield();
        continue;
      }
      words[1] = i;
      words[2] = ~i;
      ring->Commit(3 + i % 3);
      ++i;
    }
  });
  for (std::uint64_t expected = 0; expected < kCount;) {
    std::size_t size = 0;
    const std::uint64_t* words = ring->Front(&size);
    if (words == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(words[1], expected);
    ASSERT_EQ(words[2], ~expected);
    ASSERT_EQ(size, 3 + expected % 3);
    ring->Pop();
    ++expected;
  }
  writer.join();
}

}  // namespace
}  // namespace hotspan::raw
