// The totals of an order, slow in a known way: each function repeats its real work until it has
// spent its share of the CPU time. The shares are the truth that truth.json states.
// Threads: an order and its budget belong to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "demo/common/cpu_budget.h"

namespace OrderService {

struct LineItem {
  std::string sku;
  std::string price;  // as typed in, e.g. "EUR 12.99"
  std::int64_t cents = 0;
  std::int64_t quantity = 0;
  std::int64_t tax_cents = 0;
  int category = 0;
};

struct DiscountRule {
  std::string name;
  int category = 0;
  std::int64_t cents_min = 0;
  std::int64_t quantity_min = 0;
  std::int64_t per_mille = 0;
  std::int64_t weight = 0;
};

struct Order {
  std::string id;
  std::vector<LineItem> items;
  std::vector<DiscountRule> rules;
  std::int64_t subtotal_cents = 0;
  std::int64_t tax_cents = 0;
  std::int64_t discount_cents = 0;
  std::int64_t layout_columns = 0;
  std::string result;  // JSON
};

// Work that a share belongs to; a function's own work where it calls others, too.
enum Part : std::size_t {
  kValidateLineItems,
  kCheckPriceRules,
  kMatchPricePattern,
  kCalculateTax,
  kLoadDiscountRules,
  kParseRulesConfig,
  kEvaluateRules,
  kFormatResponse,
  kSerializeOrderResult,
  kPartCount,
};

// Shares by Part; they sum to 1.
const std::vector<double>& Shares();

// Computes the order's totals, spending the budget.
void CalculateTotals(Order& order, demo::CpuBudget& budget);

// An order of this id with its items, made the same way each time.
Order MakeOrder(const std::string& id);

}  // namespace OrderService
