#include "cache/server_connection.h"

#include <poll.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace hearth {

Status WaitForSocket(int socket, short events, const Deadline& deadline) {
  while (true) {
    pollfd waited{socket, events, 0};
    const int count = ::poll(&waited, 1, deadline.left_ms());
    if (count > 0) return Status::Ok();
    if (count == 0) return Error(StatusCode::kUnavailable, "it does not answer in time");
    if (errno != EINTR) return Error(StatusCode::kUnavailable, "waiting for it: {}", std::strerror(errno));
  }
}

}  // namespace hearth
