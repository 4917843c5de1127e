// How users name a cache server:
//   host   host:port   [::1]:port
//   redis://user:password@host:port/database?ttl=30d&max-entry=64M
//   rediss://...            the same over TLS; ?ca=FILE: who may have signed the server's certificate
#ifndef HEARTH_REDIS_ADDRESS_H_
#define HEARTH_REDIS_ADDRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "hearth/status.h"

namespace hearth {

struct ServerAddress {
  std::string host;
  int port = 6379;
  std::string user, password;  // empty user: the server's default one
  int database = 0;
  bool is_tls = false;
  std::string ca_file;         // empty: the system's certificates
  int64_t time_to_live_s = 0;  // of entries that are put; 0: no expiry
  uint64_t max_entry_bytes = uint64_t{64} << 20;

  std::string text() const;  // for messages: has no password
};

// kInvalidArgument says what is wrong and what is expected, without repeating a password.
Result<ServerAddress> ParseServerAddress(std::string_view text);

}  // namespace hearth

#endif  // HEARTH_REDIS_ADDRESS_H_
