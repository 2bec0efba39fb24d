#include "demo/common/sqlite.h"

#include <gtest/gtest.h>

namespace demo {
namespace {

TEST(Database, GivesRowsAsText) {
  Database database(":memory:");
  database.Execute(
      "CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES (1, 'a'), (2, NULL);");
  EXPECT_EQ(database.Query("SELECT t", "SELECT id, name FROM t ORDER BY id"),
            (std::vector<Row>{{"1", "a"}, {"2", ""}}));
}

TEST(Database, ThrowsWithSqlitesMessage) {
  Database database(":memory:");
  try {
    database.Query("SELECT missing", "SELECT id FROM missing");
    FAIL() << "no exception";
  } catch (const DatabaseError& error) {
    EXPECT_STREQ(error.what(), "no such table: missing");
  }
  EXPECT_THROW(Database("/nonexistent/folder/x.sqlite"), DatabaseError);
}

TEST(DatabasePool, GivesAConnectionBackForTheNext) {
  DatabasePool pool(":memory:");
  {
    const DatabasePool::Lease lease = pool.Take();
    lease->Execute("CREATE TABLE t (id INTEGER)");
  }
  EXPECT_TRUE(pool.Take()->Query("SELECT t", "SELECT id FROM t").empty());
}

}  // namespace
}  // namespace demo
