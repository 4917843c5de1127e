#include "redis/connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/threads.h"

namespace hearth {
namespace {

struct Endpoint {
  int family = 0;
  sockaddr_storage address{};
  socklen_t size = 0;
};

struct Resolved {
  std::vector<Endpoint> endpoints;
  int error = 0;
};

Resolved Resolve(const std::string& host, int port, int flags) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  Resolved resolved;
  resolved.error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (resolved.error != 0) return resolved;
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    Endpoint endpoint;
    endpoint.family = info->ai_family;
    endpoint.size = info->ai_addrlen;
    std::memcpy(&endpoint.address, info->ai_addr, info->ai_addrlen);
    resolved.endpoints.push_back(endpoint);
  }
  ::freeaddrinfo(found);
  return resolved;
}

// A resolver may wait for seconds and can't be stopped, so it gets its own thread, which ends by itself after a
// time-out.
Result<Resolved> ResolveByDeadline(const ServerAddress& address, const Deadline& deadline) {
  if (Resolved numeric = Resolve(address.host, address.port, AI_NUMERICHOST); numeric.error == 0) return numeric;
  struct Shared {
    std::mutex mutex;
    std::condition_variable is_done;
    std::optional<Resolved> resolved;
  };
  const auto shared = std::make_shared<Shared>();
  std::thread resolver;
  HEARTH_TRY(StartThread(resolver, [shared, host = address.host, port = address.port] {
    Resolved resolved = Resolve(host, port, 0);
    const std::scoped_lock lock(shared->mutex);
    shared->resolved = std::move(resolved);
    shared->is_done.notify_all();
  }));
  resolver.detach();
  std::unique_lock lock(shared->mutex);
  const auto wait = std::chrono::milliseconds(deadline.left_ms());
  if (!shared->is_done.wait_for(lock, wait, [&] { return shared->resolved.has_value(); })) {
    return Error(StatusCode::kUnavailable, "its name was not resolved in time");
  }
  if (shared->resolved->error != 0) {
    return Error(StatusCode::kUnavailable, "its name is not known: {}", ::gai_strerror(shared->resolved->error));
  }
  return *std::move(shared->resolved);
}

Result<Descriptor> Connect(const Endpoint& endpoint, const Deadline& deadline) {
  Descriptor socket(::socket(endpoint.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return Error(StatusCode::kUnavailable, "no socket: {}", std::strerror(errno));
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  int error = 0;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&endpoint.address), endpoint.size) != 0) {
    error = errno;
    if (error == EINPROGRESS) {
      HEARTH_TRY(WaitForSocket(socket.get(), POLLOUT, deadline));
      socklen_t size = sizeof(error);
      if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    }
  }
  if (error != 0) return Error(StatusCode::kUnavailable, "it can't be reached: {}", std::strerror(error));
  return socket;
}

class PlainConnection final : public ServerConnection {
 public:
  explicit PlainConnection(Descriptor socket) : socket_(std::move(socket)) {}

  Status Write(std::span<const std::byte> bytes, const Deadline& deadline) override {
    while (!bytes.empty()) {
      if (deadline.is_over()) return Error(StatusCode::kUnavailable, "it did not accept the sent bytes in time");
      const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count > 0) {
        bytes = bytes.subspan(static_cast<size_t>(count));
      } else if (errno == EAGAIN) {
        HEARTH_TRY(WaitForSocket(socket_.get(), POLLOUT, deadline));
      } else if (errno != EINTR) {
        return Error(StatusCode::kUnavailable, "sending to it: {}", std::strerror(errno));
      }
    }
    return Status::Ok();
  }

  Result<size_t> Read(std::span<std::byte> room, const Deadline& deadline) override {
    while (true) {
      // The deadline covers the whole answer, so a server that drips can't extend it.
      if (deadline.is_over()) return Error(StatusCode::kUnavailable, "it does not answer in time");
      const ssize_t count = ::recv(socket_.get(), room.data(), room.size(), 0);
      if (count > 0) return static_cast<size_t>(count);
      if (count == 0) return Error(StatusCode::kUnavailable, "it closed the connection");
      if (errno == EAGAIN) {
        HEARTH_TRY(WaitForSocket(socket_.get(), POLLIN, deadline));
      } else if (errno != EINTR) {
        return Error(StatusCode::kUnavailable, "reading from it: {}", std::strerror(errno));
      }
    }
  }

 private:
  Descriptor socket_;
};

}  // namespace

Status WaitForSocket(int socket, short events, const Deadline& deadline) {
  while (true) {
    pollfd waited{socket, events, 0};
    const int count = ::poll(&waited, 1, deadline.left_ms());
    if (count > 0) return Status::Ok();
    if (count == 0) return Error(StatusCode::kUnavailable, "it does not answer in time");
    if (errno != EINTR) return Error(StatusCode::kUnavailable, "waiting for it: {}", std::strerror(errno));
  }
}

Result<std::unique_ptr<ServerConnection>> ConnectToServer(const ServerAddress& address, const Deadline& deadline) {
  HEARTH_ASSIGN(const Resolved resolved, ResolveByDeadline(address, deadline));
  Status last = Error(StatusCode::kUnavailable, "its name has no address");
  for (const Endpoint& endpoint : resolved.endpoints) {
    Result<Descriptor> socket = Connect(endpoint, deadline);
    if (!socket.ok()) {
      last = socket.status();
      continue;
    }
    if (address.is_tls) return ConnectTls(std::move(socket).value(), address, deadline);
    return std::unique_ptr<ServerConnection>(std::make_unique<PlainConnection>(std::move(socket).value()));
  }
  return last;
}

}  // namespace hearth
