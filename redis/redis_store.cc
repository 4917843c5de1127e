#include "redis/redis_store.h"

#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "redis/protocol.h"

namespace hearth {

namespace {

class RedisValues final : public KeyValueStore {
 public:
  RedisValues(RedisOptions options, ServerAddress address)
      : options_(std::move(options)), address_(std::move(address)) {}

  std::optional<std::vector<std::byte>> Read(std::string_view key) override {
    const std::string name = NameOf(key);
    Result<RedisReply> reply = Ask({"GET", name});
    if (!reply.ok()) return std::nullopt;
    if (reply->kind == RedisReply::Kind::kError) Tell(*reply, "read");
    if (reply->kind != RedisReply::Kind::kValue) return std::nullopt;
    return std::move(reply->value);
  }

  bool Write(std::string_view key, std::span<const std::byte> value) override {
    if (!may_write_ || value.size() > address_.max_entry_bytes) return false;
    const std::string name = NameOf(key), seconds = std::to_string(address_.time_to_live_s);
    std::vector<std::string_view> words = {"DEL", name};
    if (!value.empty()) words = {"SET", name, TextFrom(value)};
    if (!value.empty() && address_.time_to_live_s > 0) words.insert(words.end(), {"EX", seconds});
    const Result<RedisReply> reply = Ask(words);
    if (!reply.ok()) return false;
    if (reply->kind != RedisReply::Kind::kError) return true;
    may_write_ = false;  // the server is full or read-only: it would refuse the next too
    Tell(*reply, "store");
    return false;
  }

  std::string why_unusable() const override { return why_unusable_; }
  std::vector<std::string> TakeWarnings() override { return warnings_.Take(); }

 private:
  static std::string NameOf(std::string_view key) { return fmt::format("hearth:1:{}", key); }

  void Tell(const RedisReply& reply, std::string_view what) {
    const std::string error = reply.text.substr(0, reply.text.find(' '));
    if (error == "NOAUTH" || error == "WRONGPASS") {
      GiveUp(fmt::format("it needs a password ({}): give it as redis://user:password@host:port", reply.text));
      return;
    }
    warnings_.Add(fmt::format("{} {}", what, error),
                  fmt::format("the cache server {} does not {} an entry: {}", address_.text(), what, reply.text));
  }

  void GiveUp(std::string_view why) {
    why_unusable_ = fmt::format("the cache server {} is not used: {}", address_.text(), why);
    connection_.reset();
  }

  Result<RedisReply> Exchange(std::span<const std::string_view> words, const Deadline& deadline) {
    HEARTH_TRY(connection_->Write(BytesOf(RedisCommand(words)), deadline));
    return reader_.Next(*connection_, address_.max_entry_bytes, deadline);
  }

  Status LogIn(std::span<const std::string_view> words, const Deadline& deadline) {
    HEARTH_ASSIGN(const RedisReply reply, Exchange(words, deadline));
    if (reply.kind != RedisReply::Kind::kError) return Status::Ok();
    return Error(StatusCode::kUnavailable, "{} is refused: {}", words[0], reply.text);
  }

  Status Connect() {
    if (connection_ != nullptr) return Status::Ok();
    const Deadline deadline(options_.connect_wait_ms);
    HEARTH_ASSIGN(connection_, ConnectToServer(address_, deadline));
    if (!address_.password.empty()) {
      std::vector<std::string_view> words = {"AUTH"};
      if (!address_.user.empty()) words.push_back(address_.user);
      words.push_back(address_.password);
      HEARTH_TRY(LogIn(words, deadline));
    }
    if (address_.database == 0) return Status::Ok();
    const std::string database = std::to_string(address_.database);
    const std::string_view words[] = {"SELECT", database};
    return LogIn(words, deadline);
  }

  // Every failure here is final, because the connection is in the middle of a reply.
  Result<RedisReply> Ask(const std::vector<std::string_view>& words) {
    if (!why_unusable_.empty()) return Error(StatusCode::kUnavailable, "{}", why_unusable_);
    Status status = Connect();
    if (status.ok()) {
      Result<RedisReply> reply = Exchange(words, Deadline(options_.command_wait_ms));
      if (reply.ok()) return reply;
      status = reply.status();
    }
    GiveUp(status.message());
    return status;
  }

  RedisOptions options_;
  ServerAddress address_;
  std::unique_ptr<ServerConnection> connection_;
  RedisReplyReader reader_;
  bool may_write_ = true;
  std::string why_unusable_;
  Warnings warnings_;
};

}  // namespace

Result<RedisStore> OpenRedisStore(const RedisOptions& options) {
  HEARTH_ASSIGN(ServerAddress address, ParseServerAddress(options.address));
  RedisStore store{address.text(), nullptr};
  store.values = std::make_unique<RedisValues>(options, std::move(address));
  return store;
}

}  // namespace hearth
