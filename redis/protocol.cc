#include "redis/protocol.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr size_t kMostLineBytes = 4096;

Status NotRedis() {
  return Error(StatusCode::kUnavailable, "it does not follow the protocol of Redis");
}

}  // namespace

Result<RedisReply> RedisReplyReader::Next(ServerConnection& connection, uint64_t max_bytes, const Deadline& deadline) {
  HEARTH_ASSIGN(const std::string line, Line(connection, deadline));
  RedisReply reply;
  const char type = line.empty() ? '\0' : line[0];
  reply.text = line.empty() ? "" : line.substr(1);
  if (type == '+' || type == ':' || type == '-') {
    reply.kind = type == '-' ? RedisReply::Kind::kError : RedisReply::Kind::kStatus;
    return reply;
  }
  int64_t size_bytes = 0;
  if (type != '$' || !NumberFrom(reply.text, size_bytes) || size_bytes < -1) return NotRedis();
  if (size_bytes < 0) return reply;
  if (static_cast<uint64_t>(size_bytes) > max_bytes) {
    return Error(StatusCode::kUnavailable, "it sends an entry of {} bytes, more than the limit of {} (max-entry)",
                 size_bytes, max_bytes);
  }
  reply.kind = RedisReply::Kind::kValue;
  HEARTH_ASSIGN(reply.value, Bytes(static_cast<size_t>(size_bytes), connection, deadline));
  HEARTH_ASSIGN(const std::string rest, Line(connection, deadline));
  if (!rest.empty()) return NotRedis();
  return reply;
}

Status RedisReplyReader::Fill(ServerConnection& connection, const Deadline& deadline) {
  std::array<std::byte, 16384> room;
  HEARTH_ASSIGN(const size_t count, connection.Read(room, deadline));
  held_.append(reinterpret_cast<const char*>(room.data()), count);
  return Status::Ok();
}

Result<std::string> RedisReplyReader::Line(ServerConnection& connection, const Deadline& deadline) {
  size_t end = 0;
  while ((end = held_.find("\r\n")) == std::string::npos) {
    if (held_.size() > kMostLineBytes) return NotRedis();
    HEARTH_TRY(Fill(connection, deadline));
  }
  std::string line = held_.substr(0, end);
  held_.erase(0, end + 2);
  return line;
}

// Memory is allocated as bytes arrive, not as they are announced.
Result<std::vector<std::byte>> RedisReplyReader::Bytes(size_t count, ServerConnection& connection,
                                                       const Deadline& deadline) {
  const std::span<const std::byte> first = BytesOf(held_).first(std::min(count, held_.size()));
  std::vector<std::byte> bytes(first.begin(), first.end());
  held_.erase(0, first.size());
  constexpr size_t kPieceBytes = 1 << 16;
  while (bytes.size() < count) {
    const size_t before = bytes.size();
    bytes.resize(std::min(count, before + kPieceBytes));
    HEARTH_ASSIGN(const size_t got, connection.Read(std::span(bytes).subspan(before), deadline));
    bytes.resize(before + got);
  }
  return bytes;
}

std::string RedisCommand(std::span<const std::string_view> words) {
  std::string command = fmt::format("*{}\r\n", words.size());
  for (std::string_view word : words) {
    command += fmt::format("${}\r\n", word.size());
    command += word;
    command += "\r\n";
  }
  return command;
}

}  // namespace hearth
