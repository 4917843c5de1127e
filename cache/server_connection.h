// A connection to a cache server in which every wait, for names, the network or TLS, ends at a deadline.
#ifndef HEARTH_CACHE_SERVER_CONNECTION_H_
#define HEARTH_CACHE_SERVER_CONNECTION_H_

#include <cstddef>
#include <span>

#include "cache/deadline.h"
#include "hearth/status.h"

namespace hearth {

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

}  // namespace hearth

#endif  // HEARTH_CACHE_SERVER_CONNECTION_H_
