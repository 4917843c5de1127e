// The protocol of Redis servers (RESP2), as far as the commands that Hearth sends are answered with it.
#ifndef HEARTH_CACHE_REDIS_PROTOCOL_H_
#define HEARTH_CACHE_REDIS_PROTOCOL_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/server_connection.h"

namespace hearth {

struct RedisReply {
  enum class Kind { kStatus, kError, kValue, kNothing };
  Kind kind = Kind::kNothing;
  std::string text;  // of a status or error
  std::vector<std::byte> value;
};

// Takes replies out of what a connection delivers.
class RedisReplyReader {
 public:
  // kUnavailable for what no Redis server answers, a value above `max_bytes`, and the connection's own errors: what
  // comes after one of them has no beginning, so the connection is of no more use.
  Result<RedisReply> Next(ServerConnection& connection, uint64_t max_bytes, const Deadline& deadline);

 private:
  Status Fill(ServerConnection& connection, const Deadline& deadline);
  Result<std::string> Line(ServerConnection& connection, const Deadline& deadline);
  Result<std::vector<std::byte>> Bytes(size_t count, ServerConnection& connection, const Deadline& deadline);

  std::string held_;  // read and not yet taken
};

std::string RedisCommand(std::span<const std::string_view> words);

}  // namespace hearth

#endif  // HEARTH_CACHE_REDIS_PROTOCOL_H_
