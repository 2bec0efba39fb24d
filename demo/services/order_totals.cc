#include "demo/services/order_totals.h"

#include <boost/json.hpp>
#include <regex>
#include <string_view>
#include <utility>

// Never inlined, so that each function stands in the stacks under its own name.
#define DEMO_NOINLINE [[gnu::noinline]]

namespace OrderService {
namespace {

namespace json = boost::json;

constexpr int kItems = 24;
constexpr int kRules = 40;

// The rules as operations would keep them in a file.
std::string MakeRulesConfig() {
  json::array rules;
  for (int i = 0; i < kRules; ++i) {
    rules.push_back(json::object{{"name", "rule " + std::to_string(i)},
                                 {"category", i % 6},
                                 {"when", {{"cents_min", 500 * (i % 9)}, {"quantity_min", i % 4}}},
                                 {"per_mille", 5 + i % 40},
                                 {"comment", "valid until \"further\" notice\n"}});
  }
  return json::serialize(rules);
}

}  // namespace

// Wide enough, and with a branch at each part, for the matcher to have work.
DEMO_NOINLINE bool matchPricePattern(const std::string& price) {
  static const std::regex pricePattern(R"((EUR|USD|GBP) ?[0-9]+[.,][0-9]{2})");
  return std::regex_match(price, pricePattern);
}

DEMO_NOINLINE void checkPriceRules(Order& order, demo::CpuBudget& budget) {
  while (budget.Owes(kCheckPriceRules)) {
    for (int repeat = budget.Repeats(900); repeat > 0; --repeat) {
      for (LineItem& item : order.items) {
        const std::int64_t cap = 1'000'000 / (1 + item.category + (repeat & 7));
        if (item.cents * item.quantity > cap) item.quantity = 1 + cap / (item.cents + 1);
      }
    }
  }
  while (budget.Owes(kMatchPricePattern)) {
    for (int repeat = budget.Repeats(3); repeat > 0; --repeat) {
      for (LineItem& item : order.items) {
        if (!matchPricePattern(item.price)) item.quantity = 0;
      }
    }
  }
}

DEMO_NOINLINE void calculateTax(Order& order, demo::CpuBudget& budget) {
  while (budget.Owes(kCalculateTax)) {
    for (int repeat = budget.Repeats(700); repeat > 0; --repeat) {
      std::int64_t sum = 0;
      for (LineItem& item : order.items) {
        const double rate = 0.05 + 0.02 * item.category + 0.0001 * (repeat & 3);
        const double net = static_cast<double>(item.cents * item.quantity) / (1.0 + rate);
        item.tax_cents = static_cast<std::int64_t>(net * rate + 0.5);
        sum += item.tax_cents;
      }
      order.tax_cents = sum;
    }
  }
}

DEMO_NOINLINE void validateLineItems(Order& order, demo::CpuBudget& budget) {
  while (budget.Owes(kValidateLineItems)) {
    for (int repeat = budget.Repeats(1500); repeat > 0; --repeat) {
      std::int64_t sum = 0;
      for (LineItem& item : order.items) {
        if (item.quantity < 1 + (repeat & 1)) item.quantity = 1 + item.cents % 5;
        sum += item.cents * item.quantity % (order.subtotal_cents + 1'000'003);
      }
      order.subtotal_cents = sum;
    }
  }
  checkPriceRules(order, budget);
  calculateTax(order, budget);
}

// Reads the same rules from their JSON text on every call, which is the planted mistake.
DEMO_NOINLINE std::vector<DiscountRule> parseRulesConfig(const std::string& rulesConfig) {
  std::vector<DiscountRule> rules;
  const json::value parsed = json::parse(rulesConfig);
  for (const json::value& value : parsed.get_array()) {
    const json::object& rule = value.get_object();
    const json::object& when = rule.at("when").get_object();
    rules.push_back({.name = std::string(rule.at("name").get_string()),
                     .category = static_cast<int>(rule.at("category").get_int64()),
                     .cents_min = when.at("cents_min").get_int64(),
                     .quantity_min = when.at("quantity_min").get_int64(),
                     .per_mille = rule.at("per_mille").get_int64()});
  }
  return rules;
}

DEMO_NOINLINE void loadDiscountRules(Order& order, demo::CpuBudget& budget) {
  static const std::string rulesConfig = MakeRulesConfig();
  if (order.rules.empty()) order.rules = parseRulesConfig(rulesConfig);
  while (budget.Owes(kParseRulesConfig)) {
    for (int repeat = budget.Repeats(3); repeat > 0; --repeat) {
      order.rules = parseRulesConfig(rulesConfig);
    }
  }
  // Weighs each rule by how far it overlaps with the others.
  while (budget.Owes(kLoadDiscountRules)) {
    for (int repeat = budget.Repeats(20); repeat > 0; --repeat) {
      for (DiscountRule& rule : order.rules) {
        std::int64_t overlap = repeat & 1;
        for (const DiscountRule& other : order.rules) {
          if (other.category != rule.category) continue;
          overlap += other.cents_min < rule.cents_min ? other.per_mille : rule.quantity_min;
        }
        rule.weight = overlap;
      }
    }
  }
}

DEMO_NOINLINE void evaluateRules(Order& order, demo::CpuBudget& budget) {
  while (budget.Owes(kEvaluateRules)) {
    for (int repeat = budget.Repeats(40); repeat > 0; --repeat) {
      std::int64_t discount = 0;
      for (const LineItem& item : order.items) {
        std::int64_t best = 0;
        for (const DiscountRule& rule : order.rules) {
          if (rule.category != item.category || item.cents < rule.cents_min) continue;
          if (item.quantity < rule.quantity_min) continue;
          const std::int64_t cents = item.cents * item.quantity * rule.per_mille / 1000;
          if (cents + rule.weight % (2 + (repeat & 3)) > best) best = cents;
        }
        discount += best;
      }
      order.discount_cents = discount;
    }
  }
}

DEMO_NOINLINE void applyDiscounts(Order& order, demo::CpuBudget& budget) {
  loadDiscountRules(order, budget);
  evaluateRules(order, budget);
}

static json::object OrderResult(const Order& order) {
  json::array items;
  for (const LineItem& item : order.items) {
    items.push_back(json::object{{"sku", item.sku},
                                 {"price", item.price},
                                 {"quantity", item.quantity},
                                 {"tax_cents", item.tax_cents},
                                 {"note", "packed \"with care\"\tand sent"}});
  }
  return {{"id", order.id},
          {"subtotal_cents", order.subtotal_cents},
          {"tax_cents", order.tax_cents},
          {"discount_cents", order.discount_cents},
          {"items", std::move(items)}};
}

DEMO_NOINLINE std::string serializeOrderResult(const json::object& orderResult) {
  return json::serialize(orderResult);
}

// Chooses the number of columns whose lines break best.
DEMO_NOINLINE void formatResponse(Order& order, const json::object& orderResult,
                                  demo::CpuBudget& budget) {
  while (budget.Owes(kFormatResponse)) {
    for (int repeat = budget.Repeats(60); repeat > 0; --repeat) {
      std::int64_t best = 1'000'000;
      for (std::int64_t columns = 20; columns < 60; ++columns) {
        std::int64_t waste = repeat & 1;
        for (const LineItem& item : order.items) waste += columns - item.cents % columns;
        if (waste < best) {
          best = waste;
          order.layout_columns = columns;
        }
      }
    }
  }
  while (budget.Owes(kSerializeOrderResult)) {
    for (int repeat = budget.Repeats(12); repeat > 0; --repeat) {
      order.result = serializeOrderResult(orderResult);
    }
  }
}

const std::vector<double>& Shares() {
  static const std::vector<double> shares = [] {
    std::vector<double> by_part(kPartCount);
    by_part[kValidateLineItems] = 0.05;
    by_part[kCheckPriceRules] = 0.05;
    by_part[kMatchPricePattern] = 0.15;
    by_part[kCalculateTax] = 0.10;
    by_part[kLoadDiscountRules] = 0.06;
    by_part[kParseRulesConfig] = 0.12;
    by_part[kEvaluateRules] = 0.22;
    by_part[kFormatResponse] = 0.07;
    by_part[kSerializeOrderResult] = 0.18;
    return by_part;
  }();
  return shares;
}

void CalculateTotals(Order& order, demo::CpuBudget& budget) {
  const json::object orderResult = OrderResult(order);
  while (budget.NextRound()) {
    validateLineItems(order, budget);
    applyDiscounts(order, budget);
    formatResponse(order, orderResult, budget);
  }
  order.result = serializeOrderResult(OrderResult(order));
}

Order MakeOrder(const std::string& id) {
  Order order;
  order.id = id;
  for (int i = 0; i < kItems; ++i) {
    const std::int64_t cents = 199 + i * 1303 % 9700;
    const std::string fraction = std::to_string(cents % 100 + 100).substr(1);
    order.items.push_back({.sku = "SKU-" + std::to_string(1000 + i * 37),
                           .price = "EUR " + std::to_string(cents / 100) + "." + fraction,
                           .cents = cents,
                           .quantity = 1 + i % 4,
                           .tax_cents = 0,
                           .category = i % 6});
  }
  return order;
}

}  // namespace OrderService
