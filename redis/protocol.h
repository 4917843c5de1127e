// The protocol of Redis servers (RESP2): the replies to the commands that Hearth sends.
#ifndef HEARTH_REDIS_PROTOCOL_H_
#define HEARTH_REDIS_PROTOCOL_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/connection.h"

namespace hearth {

struct RedisReply {
  enum class Kind { kStatus, kError, kValue, kNothing };
  Kind kind = Kind::kNothing;
  std::string text;  // of a status or error
  std::vector<std::byte> value;
};

// Parses replies from the bytes of a connection.
class RedisReplyReader {
 public:
  // kUnavailable for bytes that no Redis server sends, a value above `max_bytes`, and errors of the connection. After
  // an error the start of the next reply is unknown, so the connection can't be used any more.
  Result<RedisReply> Next(ServerConnection& connection, uint64_t max_bytes, const Deadline& deadline);

 private:
  Status Fill(ServerConnection& connection, const Deadline& deadline);
  Result<std::string> Line(ServerConnection& connection, const Deadline& deadline);
  Result<std::vector<std::byte>> Bytes(size_t count, ServerConnection& connection, const Deadline& deadline);

  std::string held_;  // read and not yet parsed
};

std::string RedisCommand(std::span<const std::string_view> words);

}  // namespace hearth

#endif  // HEARTH_REDIS_PROTOCOL_H_
