// A Redis server as a KeyValueStore (HEARTH_WITH_REDIS). Keys are "hearth:1:<name>".
#ifndef HEARTH_CACHE_REDIS_VALUES_H_
#define HEARTH_CACHE_REDIS_VALUES_H_

#include <memory>
#include <string>

#include "cache/fleet_store.h"

namespace hearth {

struct RedisOptions {
  std::string server;  // an address (server_address.h)
  int connect_wait_ms = ServerWaits().connect_ms;
  int command_wait_ms = ServerWaits().command_ms;
};

// Connects in the first call, on the calling thread. Not thread-safe: FleetStore locks. kInvalidArgument for an invalid
// address, kUnsupported in a build without it.
Result<std::unique_ptr<RemoteValues>> MakeRedisValues(const RedisOptions& options);

}  // namespace hearth

#endif  // HEARTH_CACHE_REDIS_VALUES_H_
