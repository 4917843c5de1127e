// A Redis server as a KeyValueStore (hiredis; HEARTH_WITH_REDIS). Keys are "hearth:1:<name>".
#ifndef HEARTH_CACHE_REDIS_VALUES_H_
#define HEARTH_CACHE_REDIS_VALUES_H_

#include <memory>
#include <string>

#include "cache/fleet_store.h"

namespace hearth {

struct RedisOptions {
  std::string server;        // "host:port" or "host"
  int connect_wait_ms = 20;  // on the way to the first result: a server that is not near is of no use
  int command_wait_ms = 25;
};

// Connects at the first call, in the calling thread. Not thread-safe: FleetStore takes care of that. kInvalidArgument
// for a name that makes no sense, kUnavailable where hiredis is not installed, kUnsupported in a build without it.
Result<std::unique_ptr<RemoteValues>> MakeRedisValues(const RedisOptions& options);

}  // namespace hearth

#endif  // HEARTH_CACHE_REDIS_VALUES_H_
