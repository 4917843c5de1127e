// A Redis server as a KeyValueStore (HEARTH_WITH_REDIS). Keys are "hearth:1:<name>".
#ifndef HEARTH_CACHE_REDIS_VALUES_H_
#define HEARTH_CACHE_REDIS_VALUES_H_

#include <memory>
#include <string>

#include "cache/fleet_store.h"

namespace hearth {

struct RedisOptions {
  std::string server;  // an address (server_address.h)
  int connect_wait_ms =
      25;  // for the name, the connection, TLS and logging in together: on the way to the first result
  int command_wait_ms = 25;  // for sending a command and the whole of its answer
};

// Connects at the first call, in the calling thread. Not thread-safe: FleetStore takes care of that. kInvalidArgument
// for an address that makes no sense, kUnsupported in a build without it.
Result<std::unique_ptr<RemoteValues>> MakeRedisValues(const RedisOptions& options);

}  // namespace hearth

#endif  // HEARTH_CACHE_REDIS_VALUES_H_
