#include "demo/services/order_totals.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <numeric>

namespace OrderService {
namespace {

using std::chrono::milliseconds;

TEST(OrderTotals, SharesSumToOne) {
  const std::vector<double>& shares = Shares();
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1.0, 1e-9);
}

// Not a test of speed: both sides are CPU time of this thread, however long it takes.
TEST(OrderTotals, SpendsCpuTimeByItsShares) {
  constexpr milliseconds kTotal{300};
  Order order = MakeOrder("7");
  demo::CpuBudget warm_up(Shares(), milliseconds(20), 1);
  CalculateTotals(order, warm_up);

  const std::chrono::nanoseconds begin = demo::ThreadCpuTime();
  demo::CpuBudget budget(Shares(), kTotal, 2);
  CalculateTotals(order, budget);
  const double spent = static_cast<double>((demo::ThreadCpuTime() - begin).count());
  for (std::size_t part = 0; part < kPartCount; ++part) {
    EXPECT_NEAR(static_cast<double>(budget.Spent(part).count()) / spent, Shares()[part], 0.01)
        << "part " << part;
  }
  EXPECT_GE(spent, static_cast<double>(std::chrono::nanoseconds(kTotal).count()));
}

TEST(OrderTotals, GivesACompleteOrder) {
  Order order = MakeOrder("12");
  demo::CpuBudget budget(Shares(), milliseconds(30), 3);
  CalculateTotals(order, budget);
  const boost::json::object result = boost::json::parse(order.result).as_object();
  EXPECT_EQ(result.at("id").as_string(), "12");
  EXPECT_EQ(result.at("subtotal_cents").as_int64(), order.subtotal_cents);
  EXPECT_EQ(result.at("items").as_array().size(), order.items.size());
  EXPECT_GT(order.subtotal_cents, 0);
  EXPECT_GT(order.tax_cents, 0);
  EXPECT_GT(order.discount_cents, 0);
}

TEST(CpuBudget, EndsWhenTheTotalIsSpent) {
  demo::CpuBudget budget({0.5, 0.5}, milliseconds(45), 4);
  int rounds = 0;
  while (budget.NextRound()) ++rounds;
  EXPECT_GE(rounds, 2);
  EXPECT_LE(rounds, 5);
}

TEST(CpuBudget, RepeatsStayAroundTheirMean) {
  demo::CpuBudget budget({1.0}, milliseconds(1), 5);
  for (int i = 0; i < 1000; ++i) {
    const int repeats = budget.Repeats(7);
    EXPECT_GE(repeats, 4);
    EXPECT_LE(repeats, 11);
  }
}

}  // namespace
}  // namespace OrderService
