// auth-service: logs in and verifies tokens. A token's digest is stretched by 1,000 rounds of
// SHA-256, so that a copy of the session store gives no tokens away.
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <array>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "agent/hotspan.hpp"
#include "demo/services/services.h"

namespace demo {
namespace {

constexpr int kDigestRounds = 1000;
constexpr std::size_t kSessionsMax = 10'000;
constexpr std::chrono::hours kSessionLife{8};

std::string Hex(const unsigned char* bytes, std::size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (std::size_t i = 0; i < size; ++i) {
    hex += kDigits[bytes[i] >> 4];
    hex += kDigits[bytes[i] & 15];
  }
  return hex;
}

[[gnu::noinline]] std::string StretchToken(const std::string& token) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  for (int round = 1; round < kDigestRounds; ++round) {
    SHA256(digest.data(), digest.size(), digest.data());
  }
  return Hex(digest.data(), digest.size());
}

// Sessions by digest, the oldest going first when there are too many.
class SessionStore {
 public:
  void Add(const std::string& digest, const std::string& user) {
    const std::lock_guard lock(mutex_);
    if (order_.size() >= kSessionsMax) {
      sessions_.erase(order_.front());
      order_.pop_front();
    }
    order_.push_back(digest);
    sessions_[digest] = {.user = user, .ends = std::chrono::steady_clock::now() + kSessionLife};
  }

  std::optional<std::string> UserOf(const std::string& digest) {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(digest);
    if (found == sessions_.end()) return std::nullopt;
    if (found->second.ends < std::chrono::steady_clock::now()) return std::nullopt;
    return found->second.user;
  }

 private:
  struct Session {
    std::string user;
    std::chrono::steady_clock::time_point ends;
  };

  std::mutex mutex_;
  std::list<std::string> order_;
  std::unordered_map<std::string, Session> sessions_;
};

Response Login(SessionStore& store, const Request& request) {
  const std::string user = request.Query("user");
  if (user.empty()) return ErrorResponse(400, "user is missing");
  std::array<unsigned char, 16> random;
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) {
    throw std::runtime_error("no random bytes");
  }
  const std::string token = Hex(random.data(), random.size());
  store.Add(StretchToken(token), user);
  return {.body = token, .content_type = "text/plain"};
}

Response Verify(SessionStore& store, const Request& request) {
  std::string digest;
  {
    hotspan::Span span("hash_token");
    span.Set("auth.rounds", kDigestRounds);
    digest = StretchToken(request.BearerToken());
  }
  const hotspan::Span span("session_lookup");
  const std::optional<std::string> user = store.UserOf(digest);
  if (!user) return ErrorResponse(401, "unknown or expired token");
  return {.body = R"({"user":")" + *user + "\"}"};
}

}  // namespace

Routes MakeAuthService(const Settings&) {
  const auto store = std::make_shared<SessionStore>();
  return {
      {"POST /login", [store](const Request& request) { return Login(*store, request); }},
      {"GET /verify", [store](const Request& request) { return Verify(*store, request); }},
  };
}

}  // namespace demo
