#include "cache/redis_values.h"

#include <charconv>
#include <csignal>
#include <ctime>

#ifdef HEARTH_WITH_REDIS
#include "cache/hiredis_api.h"
#endif

namespace hearth {

#ifdef HEARTH_WITH_REDIS

namespace {

constexpr int kUsualPort = 6379;

timeval TimeOf(int milliseconds) {
  return {milliseconds / 1000, (milliseconds % 1000) * 1000};
}

// hiredis writes without MSG_NOSIGNAL: a server that goes away would end the process.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutPipeSignal() {
    const timespec no_wait{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &no_wait);  // takes the one that was raised meanwhile, if any
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

struct ContextCloser {
  const HiredisApi* hiredis;
  void operator()(redisContext* context) const { hiredis->redisFree(context); }
};
struct ReplyCloser {
  const HiredisApi* hiredis;
  void operator()(void* reply) const { hiredis->freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, ReplyCloser>;

class RedisValues final : public RemoteValues {
 public:
  RedisValues(const HiredisApi* hiredis, RedisOptions options, std::string host, int port)
      : hiredis_(hiredis),
        options_(std::move(options)),
        host_(std::move(host)),
        port_(port),
        context_(nullptr, ContextCloser{hiredis}) {}

  std::optional<std::vector<std::byte>> Read(std::string_view key) override {
    const std::string name = NameOf(key);
    const Reply reply = Send("GET %b", name, {});
    if (reply == nullptr || reply->type != REDIS_REPLY_STRING) return std::nullopt;
    const auto* bytes = reinterpret_cast<const std::byte*>(reply->str);
    return std::vector<std::byte>(bytes, bytes + reply->len);
  }

  bool Write(std::string_view key, std::span<const std::byte> value) override {
    const std::string name = NameOf(key);
    const Reply reply = value.empty() ? Send("DEL %b", name, {}) : Send("SET %b %b", name, value);
    return reply != nullptr && reply->type != REDIS_REPLY_ERROR;
  }

  bool is_usable() const override { return why_unusable_.empty(); }
  std::string why_unusable() const override { return why_unusable_; }

 private:
  static std::string NameOf(std::string_view key) { return fmt::format("hearth:1:{}", key); }

  bool Connect() {
    if (context_ != nullptr) return true;
    context_.reset(hiredis_->redisConnectWithTimeout(host_.c_str(), port_, TimeOf(options_.connect_wait_ms)));
    if (context_ == nullptr || context_->err != 0) return false;
    return hiredis_->redisSetTimeout(context_.get(), TimeOf(options_.command_wait_ms)) == REDIS_OK;
  }

  // Null after a failure: the connection is then of no use any more.
  Reply Send(const char* command, const std::string& name, std::span<const std::byte> value) {
    Reply reply(nullptr, ReplyCloser{hiredis_});
    if (!is_usable()) return reply;
    const WithoutPipeSignal no_signal;
    if (Connect()) {
      reply.reset(static_cast<redisReply*>(
          hiredis_->redisCommand(context_.get(), command, name.data(), name.size(), value.data(), value.size())));
    }
    if (reply == nullptr) {
      why_unusable_ = fmt::format("the cache server {} is not used: {}", options_.server,
                                  context_ != nullptr && context_->err != 0 ? context_->errstr : "out of memory");
      context_.reset();
    }
    return reply;
  }

  const HiredisApi* hiredis_;
  RedisOptions options_;
  std::string host_;
  int port_;
  std::unique_ptr<redisContext, ContextCloser> context_;
  std::string why_unusable_;
};

}  // namespace

Result<std::unique_ptr<RemoteValues>> MakeRedisValues(const RedisOptions& options) {
  const size_t colon = options.server.rfind(':');
  const std::string host = options.server.substr(0, colon);
  int port = kUsualPort;
  bool is_sound = !host.empty();
  if (colon != std::string::npos) {
    const char* first = options.server.data() + colon + 1;
    const char* last = options.server.data() + options.server.size();
    const auto parsed = std::from_chars(first, last, port);
    is_sound = is_sound && parsed.ec == std::errc() && parsed.ptr == last && port > 0 && port < 65536;
  }
  if (!is_sound) {
    return Error(StatusCode::kInvalidArgument, "'{}' names no cache server: give host:port", options.server);
  }
  HEARTH_ASSIGN(const HiredisApi* hiredis, LoadHiredis());
  return std::unique_ptr<RemoteValues>(std::make_unique<RedisValues>(hiredis, options, host, port));
}

#else

Result<std::unique_ptr<RemoteValues>> MakeRedisValues(const RedisOptions&) {
  return Error(StatusCode::kUnsupported, "this build of Hearth knows no cache server: build with HEARTH_WITH_REDIS");
}

#endif

}  // namespace hearth
