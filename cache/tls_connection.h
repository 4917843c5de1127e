// TLS over a connected socket with OpenSSL 3, which is opened at run time.
#ifndef HEARTH_CACHE_TLS_CONNECTION_H_
#define HEARTH_CACHE_TLS_CONNECTION_H_

#include <memory>

#include "cache/server_address.h"
#include "cache/server_connection.h"
#include "core/base/descriptor.h"

namespace hearth {

// Makes the TLS handshake and checks the server's certificate against its name. kUnavailable if that fails or OpenSSL
// is not installed.
Result<std::unique_ptr<ServerConnection>> ConnectTls(Descriptor socket, const ServerAddress& address,
                                                     const Deadline& deadline);

}  // namespace hearth

#endif  // HEARTH_CACHE_TLS_CONNECTION_H_
