// A connection to a server in which every wait, for names, the network or TLS, ends at a deadline.
#ifndef HEARTH_REDIS_CONNECTION_H_
#define HEARTH_REDIS_CONNECTION_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "core/base/descriptor.h"
#include "redis/address.h"

namespace hearth {

// A point in time that all parts of a call share: time that one part takes is not left for the next.
class Deadline {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;  // tests set their own

  explicit Deadline(int wait_ms, Clock clock = std::chrono::steady_clock::now)
      : clock_(std::move(clock)), end_(clock_() + std::chrono::milliseconds(wait_ms)) {}

  // The time left in milliseconds, rounded up so that a wait does not end too early; 0 if it is over.
  int left_ms() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - clock_());
    return static_cast<int>(std::max<int64_t>(0, left.count()));
  }
  bool is_over() const { return left_ms() == 0; }

 private:
  Clock clock_;
  std::chrono::steady_clock::time_point end_;
};

// Not thread-safe.
class ServerConnection {
 public:
  virtual ~ServerConnection() = default;

  // Errors: kUnavailable says why; one reason is that the time is over.
  virtual Status Write(std::span<const std::byte> bytes, const Deadline& deadline) = 0;
  // Reads at least one byte, and at most as many as `bytes` has room for.
  virtual Result<size_t> Read(std::span<std::byte> room, const Deadline& deadline) = 0;
};

// Waits until poll(2) reports one of `events`; kUnavailable at the deadline.
Status WaitForSocket(int socket, short events, const Deadline& deadline);

// kUnavailable says why; one reason is that the time is over.
Result<std::unique_ptr<ServerConnection>> ConnectToServer(const ServerAddress& address, const Deadline& deadline);

// TLS over a connected socket with OpenSSL 3, which is opened at run time. Makes the handshake and checks the server's
// certificate against its name. kUnavailable if that fails or OpenSSL is not installed.
Result<std::unique_ptr<ServerConnection>> ConnectTls(Descriptor socket, const ServerAddress& address,
                                                     const Deadline& deadline);

}  // namespace hearth

#endif  // HEARTH_REDIS_CONNECTION_H_
