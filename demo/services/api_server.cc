// api_server: the public API in front of user-db.
#include "demo/services/services.h"

namespace demo {

Routes MakeApiServer(const Settings& settings) {
  const Peer users = settings.PeerNamed("user-db");
  return {{"GET /users", [users](const Request& request) {
             return users.Send({.target = "/users/by-email?domain=acme.example&batch=" +
                                          PercentEncode(request.Query("batch", "0"))});
           }}};
}

}  // namespace demo
