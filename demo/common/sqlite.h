// A thin SQLite wrapper. Query runs in a client span that carries the statement, Execute in none.
// Threads: a Database belongs to one thread at a time; DatabasePool hands them out.
#pragma once

#include <memory>
#include <mutex>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

struct sqlite3;

namespace demo {

class DatabaseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Row = std::vector<std::string>;

class Database {
 public:
  explicit Database(const std::string& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // The rows of one statement, as text. `name` becomes the span's name, e.g. "SELECT orders".
  std::vector<Row> Query(const char* name, const std::string& sql,
                         std::source_location where = std::source_location::current());
  // Statements without an answer, several separated by ';'.
  void Execute(const std::string& sql);

 private:
  std::vector<Row> Run(const std::string& sql);

  sqlite3* handle_ = nullptr;
};

// Connections to one file, opened as needed and kept.
class DatabasePool {
 public:
  explicit DatabasePool(std::string path) : path_(std::move(path)) {}

  // Gives its connection back when it goes.
  class Lease {
   public:
    Lease(DatabasePool* pool, std::unique_ptr<Database> database)
        : pool_(pool), database_(std::move(database)) {}
    ~Lease() { pool_->Return(std::move(database_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Database* operator->() const { return database_.get(); }
    Database& operator*() const { return *database_; }

   private:
    DatabasePool* pool_;
    std::unique_ptr<Database> database_;
  };

  Lease Take();

 private:
  void Return(std::unique_ptr<Database> database);

  const std::string path_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Database>> idle_;
};

}  // namespace demo
