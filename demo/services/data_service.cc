// data-service: sales figures. /data aggregates 10,000 rows and works on them; /report is the
// healthy control: one join with an index, nothing to find.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <vector>

#include "agent/hotspan.hpp"
#include "demo/common/sqlite.h"
#include "demo/services/services.h"

namespace demo {
namespace {

constexpr char kSchema[] = R"sql(
CREATE TABLE regions (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE sales (id INTEGER PRIMARY KEY, region_id INTEGER, product INTEGER, cents INTEGER);
CREATE INDEX sales_region ON sales (region_id);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
  INSERT INTO regions SELECT i, 'region ' || i FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
  INSERT INTO sales SELECT i, 1 + i % 40, i * 7919 % 250, 100 + i * 104729 % 90000 FROM n;
)sql";

double Number(const std::string& text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Smooths the daily means over their neighbours until they settle.
[[gnu::noinline]] double SmoothMeans(std::vector<double> means) {
  for (int pass = 0; pass < 400; ++pass) {
    for (std::size_t i = 1; i + 1 < means.size(); ++i) {
      means[i] = (means[i - 1] + 2 * means[i] + means[i + 1]) / 4;
    }
  }
  double sum = 0;
  for (const double mean : means) sum += std::sqrt(mean);
  return sum;
}

Response Data(DatabasePool& pool) {
  const hotspan::Span fetch("data_fetch_operation");
  const DatabasePool::Lease database = pool.Take();
  const std::vector<Row> rows =
      database->Query("database_query",
                      "SELECT product, COUNT(*), SUM(cents), AVG(cents), MAX(cents) FROM sales "
                      "GROUP BY product ORDER BY 3 DESC");
  hotspan::Span processing("data_processing");
  std::vector<double> means;
  for (const Row& row : rows) means.push_back(Number(row[3]));
  const double index = SmoothMeans(std::move(means));
  processing.Set("data.products", rows.size());
  return {.body = "{\"products\":" + std::to_string(rows.size()) +
                  ",\"index\":" + std::to_string(index) + "}"};
}

Response Report(DatabasePool& pool) {
  const DatabasePool::Lease database = pool.Take();
  const std::vector<Row> rows = database->Query(
      "SELECT sales by region",
      "SELECT r.name, COUNT(*), SUM(s.cents) FROM regions r JOIN sales s ON s.region_id = r.id "
      "WHERE r.id BETWEEN 1 AND 5 GROUP BY r.id");
  std::string body;
  for (const Row& row : rows) {
    body += (body.empty() ? "[" : ",");
    body += R"({"region":")" + row[0] + R"(","sales":)" + row[1] + ",\"cents\":" + row[2] + "}";
  }
  return {.body = body + "]"};
}

}  // namespace

Routes MakeDataService(const Settings& settings) {
  const auto pool =
      std::make_shared<DatabasePool>(CreateDatabase(settings, "data-service", kSchema));
  return {
      {"GET /data", [pool](const Request&) { return Data(*pool); }},
      {"GET /report", [pool](const Request&) { return Report(*pool); }},
  };
}

}  // namespace demo
