#include "demo/common/sqlite.h"

#include <sqlite3.h>

#include <utility>

#include "agent/hotspan.hpp"

namespace demo {
namespace {

constexpr int kBusyTimeoutMs = 5000;

}  // namespace

Database::Database(const std::string& path) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
    const std::string reason = sqlite3_errmsg(handle_);
    sqlite3_close(handle_);
    throw DatabaseError(path + ": " + reason);
  }
  sqlite3_busy_timeout(handle_, kBusyTimeoutMs);
}

Database::~Database() { sqlite3_close(handle_); }

std::vector<Row> Database::Query(const char* name, const std::string& sql,
                                 std::source_location where) {
  hotspan::Span span = hotspan::Span::Client(name, where);
  span.Set("db.system", "sqlite").Set("db.statement", sql);
  std::vector<Row> rows = Run(sql);
  span.Set("db.response.returned_rows", rows.size());
  return rows;
}

std::vector<Row> Database::Run(const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(handle_, sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) {
    throw DatabaseError(sqlite3_errmsg(handle_));
  }
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
  std::vector<Row> rows;
  int state = sqlite3_step(raw);
  for (; state == SQLITE_ROW; state = sqlite3_step(raw)) {
    Row& row = rows.emplace_back();
    for (int column = 0; column < sqlite3_column_count(raw); ++column) {
      const unsigned char* text = sqlite3_column_text(raw, column);
      row.emplace_back(text == nullptr ? "" : reinterpret_cast<const char*>(text));
    }
  }
  if (state != SQLITE_DONE) throw DatabaseError(sqlite3_errmsg(handle_));
  return rows;
}

void Database::Execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw DatabaseError(sqlite3_errmsg(handle_));
  }
}

DatabasePool::Lease DatabasePool::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Database> database = std::move(idle_.back());
      idle_.pop_back();
      return Lease(this, std::move(database));
    }
  }
  return Lease(this, std::make_unique<Database>(path_));
}

void DatabasePool::Return(std::unique_ptr<Database> database) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(database));
}

}  // namespace demo
