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

// Connects at the first call, in the calling thread. Not thread-safe: FleetStore takes care of that. kInvalidArgument
// for an address that makes no sense, kUnsupported in a build without it.
Result<std::unique_ptr<RemoteValues>> MakeRedisValues(const RedisOptions& options);

}  // namespace hearth

#endif  // HEARTH_CACHE_REDIS_VALUES_H_
