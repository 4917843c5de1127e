// A Redis server as a KeyValueStore. Its keys are "hearth:1:<name>".
#ifndef HEARTH_REDIS_REDIS_STORE_H_
#define HEARTH_REDIS_REDIS_STORE_H_

#include <memory>
#include <string>

#include "hearth/cache_types.h"
#include "hearth/status.h"

namespace hearth {

struct RedisOptions {
  std::string address;  // as address.h describes it
  int connect_wait_ms = 25;
  int command_wait_ms = 25;
};

struct RedisStore {
  std::string name;  // of the server, for messages: has no password
  std::unique_ptr<KeyValueStore> values;
};

// Connects in the first call, on the calling thread. One call at a time. kInvalidArgument for an invalid address.
Result<RedisStore> OpenRedisStore(const RedisOptions& options);

}  // namespace hearth

#endif  // HEARTH_REDIS_REDIS_STORE_H_
