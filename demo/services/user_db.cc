// user-db: accounts and their preferences. UserRepository::FindByEmail is the planted N+1: one
// query for the users, then one for each user's preferences, and that table has no index on
// user_id.
#include <memory>
#include <vector>

#include "agent/hotspan.hpp"
#include "demo/common/sqlite.h"
#include "demo/services/services.h"

namespace demo {
namespace {

constexpr char kSchema[] = R"sql(
CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT, name TEXT);
CREATE TABLE user_preferences (user_id INTEGER, name TEXT, value TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8684)
  INSERT INTO users
  SELECT i, 'user' || i || '@' || CASE WHEN i % 167 = 0 THEN 'acme' ELSE 'other' || i % 167 END ||
            '.example', 'User ' || i FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 486303)
  INSERT INTO user_preferences
  SELECT 1 + i * 7 % 8684, 'preference ' || i / 8684, 'value ' || i * 31 % 97 FROM n;
)sql";

}  // namespace

struct Preference {
  std::string name;
  std::string value;
};

struct User {
  std::string id;
  std::string name;
  std::vector<Preference> preferences;
};

static std::vector<Preference> ToPreferences(const std::vector<Row>& rows) {
  std::vector<Preference> preferences;
  for (const Row& row : rows) preferences.push_back({.name = row[0], .value = row[1]});
  return preferences;
}

class UserRepository {
 public:
  explicit UserRepository(Database& database) : database_(database) {}

  // Users whose address ends in "@domain", with their preferences.
  [[gnu::noinline]] std::vector<User> FindByEmail(const std::string& domain) {
    std::vector<User> users = SelectUsers(domain);
    for (User& user : users) {
      const std::vector<Row> rows = database_.Query("SELECT user_preferences", PreferencesOf(user));
      user.preferences = ToPreferences(rows);
    }
    return users;
  }

  // The same by one query for all preferences: the healthy twin.
  [[gnu::noinline]] std::vector<User> FindByEmailAtOnce(const std::string& domain) {
    std::vector<User> users = SelectUsers(domain);
    const std::vector<Row> rows = database_.Query(
        "SELECT user_preferences of all users",
        "SELECT p.name, p.value, p.user_id FROM user_preferences p WHERE p.user_id IN "
        "(SELECT id FROM users WHERE email LIKE '%@" +
            domain + "') ORDER BY p.user_id");
    std::size_t i = 0;
    for (const Row& row : rows) {
      while (i < users.size() && users[i].id != row[2]) ++i;
      if (i == users.size()) break;
      users[i].preferences.push_back({.name = row[0], .value = row[1]});
    }
    return users;
  }

 private:
  std::vector<User> SelectUsers(const std::string& domain) {
    std::vector<User> users;
    for (Row& row :
         database_.Query("SELECT users", "SELECT id, name FROM users WHERE email LIKE '%@" +
                                             domain + "' ORDER BY id")) {
      users.push_back({.id = std::move(row[0]), .name = std::move(row[1]), .preferences = {}});
    }
    return users;
  }

  static std::string PreferencesOf(const User& user) {
    return "SELECT name, value FROM user_preferences WHERE user_id = " + user.id;
  }

  Database& database_;
};

namespace {

bool IsDomain(const std::string& text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string::npos;
}

Response ByEmail(DatabasePool& pool, const Request& request) {
  const std::string domain = request.Query("domain");
  if (!IsDomain(domain)) return ErrorResponse(400, "domain is missing or no domain");
  const DatabasePool::Lease database = pool.Take();
  UserRepository repository(*database);
  hotspan::Span span("UserRepository.FindByEmail");
  const std::vector<User> users = request.Query("batch") == "1"
                                      ? repository.FindByEmailAtOnce(domain)
                                      : repository.FindByEmail(domain);
  span.Set("users.count", users.size());
  std::size_t preferences = 0;
  for (const User& user : users) preferences += user.preferences.size();
  return {.body = "{\"users\":" + std::to_string(users.size()) +
                  ",\"preferences\":" + std::to_string(preferences) + "}"};
}

}  // namespace

Routes MakeUserDb(const Settings& settings) {
  const auto pool = std::make_shared<DatabasePool>(CreateDatabase(settings, "user-db", kSchema));
  return {
      {"GET /users/by-email", [pool](const Request& request) { return ByEmail(*pool, request); }}};
}

}  // namespace demo
