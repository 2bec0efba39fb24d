// order-service: process_order reads an order, takes the payment, updates the stock and computes
// the totals, which is where the time goes (order_totals.cc).
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "agent/hotspan.hpp"
#include "demo/common/sqlite.h"
#include "demo/services/order_totals.h"
#include "demo/services/services.h"

namespace demo {
namespace {

constexpr char kSchema[] = R"sql(
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, status TEXT);
CREATE TABLE inventory (sku TEXT PRIMARY KEY, stock INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
  INSERT INTO orders SELECT i, 'customer ' || i % 90, 'open' FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 24)
  INSERT INTO inventory SELECT 'SKU-' || (1000 + i * 37), 1000000 FROM n;
)sql";

// How long the payment provider takes to answer.
constexpr std::chrono::milliseconds kPaymentWait{12};

class OrderProcessor {
 public:
  explicit OrderProcessor(const Settings& settings)
      : cpu_(settings.order_cpu), pool_(CreateDatabase(settings, "order-service", kSchema)) {}

  Response Process(const Request& request) {
    const std::optional<std::int64_t> id = ParseNumber(request.Query("id"), 1, 1000);
    if (!id) return ErrorResponse(400, "id must be a number from 1 to 1000");
    hotspan::Span span("process_order");
    span.Set("order.id", *id);
    OrderService::Order order;
    if (!FetchOrder(std::to_string(*id), &order)) return ErrorResponse(404, "no such order");
    TakePayment(order);
    UpdateInventory(order);
    Total(order);
    return {.body = order.result};
  }

 private:
  bool FetchOrder(const std::string& id, OrderService::Order* order) {
    const hotspan::Span span("fetch_order_from_db");
    const DatabasePool::Lease database = pool_.Take();
    const std::vector<Row> rows = database->Query(
        "SELECT orders", "SELECT id, customer, status FROM orders WHERE id = " + id);
    *order = OrderService::MakeOrder(id);
    return !rows.empty();
  }

  static void TakePayment(const OrderService::Order& order) {
    hotspan::Span span("process_payment");
    span.Set("payment.items", order.items.size());
    std::this_thread::sleep_for(kPaymentWait);
  }

  void UpdateInventory(const OrderService::Order& order) {
    hotspan::Span span("update_inventory");
    std::string skus;
    for (const OrderService::LineItem& item : order.items) {
      skus += (skus.empty() ? "'" : ",'") + item.sku + "'";
    }
    const DatabasePool::Lease database = pool_.Take();
    database->Query("UPDATE inventory",
                    "UPDATE inventory SET stock = stock - 1 WHERE sku IN (" + skus + ")");
  }

  void Total(OrderService::Order& order) {
    hotspan::Span span("order.calculate_totals");
    span.Set("order.items", order.items.size());
    CpuBudget budget(OrderService::Shares(), cpu_, ++requests_);
    OrderService::CalculateTotals(order, budget);
  }

  const std::chrono::milliseconds cpu_;
  DatabasePool pool_;
  std::atomic<std::uint64_t> requests_ = 0;
};

}  // namespace

Routes MakeOrderService(const Settings& settings) {
  const auto processor = std::make_shared<OrderProcessor>(settings);
  return {
      {"POST /orders", [processor](const Request& request) { return processor->Process(request); }},
  };
}

}  // namespace demo
