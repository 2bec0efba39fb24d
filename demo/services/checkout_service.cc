// checkout-service: /checkout writes a cart (cart_serializer.cc); /prices reads the price list
// under a mutex that /prices/refresh, another request, holds while it waits for the supplier.
#include <memory>
#include <mutex>
#include <thread>

#include "agent/hotspan.hpp"
#include "demo/services/cart_serializer.h"
#include "demo/services/services.h"

namespace demo {
namespace {

// How long the supplier takes to answer.
constexpr std::chrono::milliseconds kSupplierWait{200};

}  // namespace

class PriceBook {
 public:
  // The sum of all prices, read while nobody changes them.
  [[gnu::noinline]] long Read() {
    const std::lock_guard lock(mutex_);
    long sum = 0;
    for (const long cents : prices_) sum += cents;
    return sum;
  }

  // The planted lock: it waits for the supplier with the mutex held.
  [[gnu::noinline]] void Reload() {
    const std::lock_guard lock(mutex_);
    std::this_thread::sleep_for(kSupplierWait);
    for (long& cents : prices_) cents += cents % 7 == 0 ? -1 : 1;
  }

 private:
  std::mutex mutex_;
  std::vector<long> prices_ = std::vector<long>(500, 1999);
};

namespace {

class Checkout {
 public:
  Response Process() {
    hotspan::Span span("process_checkout");
    const std::vector<CartItem> cart = MakeCart();
    span.Set("cart.items", cart.size());
    const hotspan::Span total("calculate-total");
    return {.body = CartSerializer(catalogue_).toJson(cart)};
  }

  Response Prices() {
    const hotspan::Span span("price_list");
    return {.body = "{\"sum_cents\":" + std::to_string(prices_.Read()) + "}"};
  }

  Response RefreshPrices() {
    const hotspan::Span span("refresh_prices");
    prices_.Reload();
    return {.body = "{\"refreshed\":true}"};
  }

 private:
  const std::vector<CatalogueEntry> catalogue_ = MakeCatalogue();
  PriceBook prices_;
};

}  // namespace

Routes MakeCheckoutService(const Settings&) {
  const auto checkout = std::make_shared<Checkout>();
  return {
      {"POST /checkout", [checkout](const Request&) { return checkout->Process(); }},
      {"GET /prices", [checkout](const Request&) { return checkout->Prices(); }},
      {"POST /prices/refresh", [checkout](const Request&) { return checkout->RefreshPrices(); }},
  };
}

}  // namespace demo
