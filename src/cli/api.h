// The server as the verbs see it: one call with path and body. app implements it over HTTP and
// inside of the process.
#pragma once

#include <string>

#include "base/result.h"

namespace hotspan::cli {

struct Call {
  std::string method = "GET";
  std::string target;
  std::string content_type;
  std::string body;
};

struct Reply {
  int status = 0;
  std::string body;
};

class Api {
 public:
  virtual ~Api() = default;
  // kUnavailable where the server can't be reached; any status is a reply.
  virtual Result<Reply> Call(const struct Call& call) = 0;
};

}  // namespace hotspan::cli
