// What a cache server answers: the protocol, and the envelopes that it keeps.
#include <algorithm>

#include "cache/trust/envelope.h"
#include "core/base/error.h"
#include "redis/protocol.h"
#include "tests/fuzz/fuzzer.h"

namespace hearth {
namespace {

// Delivers the bytes in pieces of growing size.
class ScriptedConnection final : public ServerConnection {
 public:
  explicit ScriptedConnection(std::span<const std::byte> bytes) : rest_(bytes) {}

  Status Write(std::span<const std::byte>, const Deadline&) override { return Status::Ok(); }
  Result<size_t> Read(std::span<std::byte> room, const Deadline&) override {
    if (rest_.empty()) return Error(StatusCode::kUnavailable, "the connection was closed");
    const size_t count = std::min({++piece_bytes_, rest_.size(), room.size()});
    std::ranges::copy(rest_.first(count), room.begin());
    rest_ = rest_.subspan(count);
    return count;
  }

 private:
  std::span<const std::byte> rest_;
  size_t piece_bytes_ = 0;
};

}  // namespace

void FuzzOne(std::span<const std::byte> bytes) {
  constexpr uint64_t kMostBytes = 1 << 16;
  CacheKey key(BlobKind::kWeights);
  key.Add("name", "w");
  static_cast<void>(OpenEnvelope(key, bytes));
  ScriptedConnection connection(bytes);
  RedisReplyReader reader;
  while (true) {
    const Result<RedisReply> reply = reader.Next(connection, kMostBytes, Deadline(1000));
    if (!reply.ok()) return;
    Expect(reply->value.size() <= kMostBytes, "no value is larger than what is taken");
    static_cast<void>(OpenEnvelope(key, reply->value));
  }
}

}  // namespace hearth
