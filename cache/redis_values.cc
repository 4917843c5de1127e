#include "cache/redis_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "cache/connect_to_server.h"
#include "cache/entry_row.h"
#include "cache/warnings.h"

namespace hearth {

#ifdef HEARTH_WITH_REDIS

namespace {

// Of the protocol RESP2, as far as the commands here are answered with it.
struct Reply {
  enum class Kind { kStatus, kError, kValue, kNothing };
  Kind kind = Kind::kNothing;
  std::string text;  // of a status or error
  std::vector<std::byte> value;
};

// Takes replies out of what a connection delivers.
class ReplyReader {
 public:
  Result<Reply> Next(ServerConnection& connection, uint64_t max_bytes, const Deadline& deadline) {
    HEARTH_ASSIGN(const std::string line, Line(connection, deadline));
    Reply reply;
    const char type = line.empty() ? '\0' : line[0];
    reply.text = line.empty() ? "" : line.substr(1);
    if (type == '+' || type == ':') {
      reply.kind = Reply::Kind::kStatus;
      return reply;
    }
    if (type == '-') {
      reply.kind = Reply::Kind::kError;
      return reply;
    }
    int64_t size_bytes = 0;
    const char* end = reply.text.data() + reply.text.size();
    const auto parsed = std::from_chars(reply.text.data(), end, size_bytes);
    if (type != '$' || parsed.ec != std::errc() || parsed.ptr != end || size_bytes < -1) {
      return Error(StatusCode::kUnavailable, "it does not speak as a Redis server does");
    }
    if (size_bytes < 0) return reply;
    if (static_cast<uint64_t>(size_bytes) > max_bytes) {
      return Error(StatusCode::kUnavailable,
                   "it sends an entry of {} bytes, more than the {} that are taken (max-entry)", size_bytes, max_bytes);
    }
    reply.kind = Reply::Kind::kValue;
    HEARTH_ASSIGN(reply.value, Bytes(static_cast<size_t>(size_bytes), connection, deadline));
    HEARTH_ASSIGN(const std::string rest, Line(connection, deadline));
    if (!rest.empty()) return Error(StatusCode::kUnavailable, "it does not speak as a Redis server does");
    return reply;
  }

 private:
  static constexpr size_t kMostLineBytes = 4096;

  Status Fill(ServerConnection& connection, const Deadline& deadline) {
    std::array<std::byte, 16384> room;
    HEARTH_ASSIGN(const size_t count, connection.Read(room, deadline));
    held_.append(reinterpret_cast<const char*>(room.data()), count);
    return Status::Ok();
  }
  Result<std::string> Line(ServerConnection& connection, const Deadline& deadline) {
    size_t end = 0;
    while ((end = held_.find("\r\n")) == std::string::npos) {
      if (held_.size() > kMostLineBytes) {
        return Error(StatusCode::kUnavailable, "it does not speak as a Redis server does");
      }
      HEARTH_TRY(Fill(connection, deadline));
    }
    std::string line = held_.substr(0, end);
    held_.erase(0, end + 2);
    return line;
  }
  // Memory is taken as the bytes come, not as they are announced.
  Result<std::vector<std::byte>> Bytes(size_t count, ServerConnection& connection, const Deadline& deadline) {
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

  std::string held_;
};

std::string CommandOf(std::span<const std::string_view> words) {
  std::string command = fmt::format("*{}\r\n", words.size());
  for (std::string_view word : words) {
    command += fmt::format("${}\r\n", word.size());
    command += word;
    command += "\r\n";
  }
  return command;
}

class RedisValues final : public RemoteValues {
 public:
  RedisValues(RedisOptions options, ServerAddress address)
      : options_(std::move(options)), address_(std::move(address)) {}

  std::optional<std::vector<std::byte>> Read(std::string_view key) override {
    const std::string name = NameOf(key);
    Result<Reply> reply = Ask({"GET", name});
    if (!reply.ok()) return std::nullopt;
    if (reply->kind == Reply::Kind::kError) Tell(*reply, "read");
    if (reply->kind != Reply::Kind::kValue) return std::nullopt;
    return std::move(reply->value);
  }

  bool Write(std::string_view key, std::span<const std::byte> value) override {
    if (!may_write_ || value.size() > address_.max_entry_bytes) return false;
    const std::string name = NameOf(key), seconds = std::to_string(address_.time_to_live_s);
    const std::string_view bytes(reinterpret_cast<const char*>(value.data()), value.size());
    std::vector<std::string_view> words = {"DEL", name};
    if (!value.empty()) words = {"SET", name, bytes};
    if (!value.empty() && address_.time_to_live_s > 0) words.insert(words.end(), {"EX", seconds});
    const Result<Reply> reply = Ask(words);
    if (!reply.ok()) return false;
    if (reply->kind != Reply::Kind::kError) return true;
    may_write_ = false;  // it is full, or lets nobody write: the next would be refused too
    Tell(*reply, "store");
    return false;
  }

  bool is_usable() const override { return why_unusable_.empty(); }
  std::string why_unusable() const override { return why_unusable_; }
  std::vector<std::string> TakeWarnings() override { return warnings_.Take(); }

 private:
  static std::string NameOf(std::string_view key) { return fmt::format("hearth:1:{}", key); }

  void Tell(const Reply& reply, std::string_view what) {
    const std::string error = reply.text.substr(0, reply.text.find(' '));
    if (error == "NOAUTH" || error == "WRONGPASS") {
      GiveUp(fmt::format("it wants a password ({}): name it as redis://user:password@host:port", reply.text));
      return;
    }
    warnings_.Add(fmt::format("{} {}", what, error),
                  fmt::format("the cache server {} does not {} an entry: {}", address_.text(), what, reply.text));
  }

  void GiveUp(std::string_view why) {
    why_unusable_ = fmt::format("the cache server {} is not used: {}", address_.text(), why);
    connection_.reset();
  }

  Result<Reply> Exchange(std::span<const std::string_view> words, const Deadline& deadline) {
    HEARTH_TRY(connection_->Write(BytesOf(CommandOf(words)), deadline));
    return reader_.Next(*connection_, address_.max_entry_bytes, deadline);
  }

  Status LogIn(std::span<const std::string_view> words, const Deadline& deadline) {
    HEARTH_ASSIGN(const Reply reply, Exchange(words, deadline));
    if (reply.kind != Reply::Kind::kError) return Status::Ok();
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

  // Whatever fails here fails for good: the connection is in the middle of something.
  Result<Reply> Ask(const std::vector<std::string_view>& words) {
    if (!is_usable()) return Error(StatusCode::kUnavailable, "{}", why_unusable_);
    Status status = Connect();
    if (status.ok()) {
      Result<Reply> reply = Exchange(words, Deadline(options_.command_wait_ms));
      if (reply.ok()) return reply;
      status = reply.status();
    }
    GiveUp(status.message());
    return status;
  }

  RedisOptions options_;
  ServerAddress address_;
  std::unique_ptr<ServerConnection> connection_;
  ReplyReader reader_;
  bool may_write_ = true;
  std::string why_unusable_;
  Warnings warnings_;
};

}  // namespace

Result<std::unique_ptr<RemoteValues>> MakeRedisValues(const RedisOptions& options) {
  HEARTH_ASSIGN(ServerAddress address, ParseServerAddress(options.server));
  return std::unique_ptr<RemoteValues>(std::make_unique<RedisValues>(options, std::move(address)));
}

#else

Result<std::unique_ptr<RemoteValues>> MakeRedisValues(const RedisOptions&) {
  return Error(StatusCode::kUnsupported, "this build of Hearth knows no cache server: build with HEARTH_WITH_REDIS");
}

#endif

}  // namespace hearth
