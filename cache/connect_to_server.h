// Connects to a cache server: resolves its name, opens the connection, and starts TLS if the address asks for it.
#ifndef HEARTH_CACHE_CONNECT_TO_SERVER_H_
#define HEARTH_CACHE_CONNECT_TO_SERVER_H_

#include <memory>

#include "cache/server_address.h"
#include "cache/server_connection.h"

namespace hearth {

// kUnavailable says why; one reason is that the time is over.
Result<std::unique_ptr<ServerConnection>> ConnectToServer(const ServerAddress& address, const Deadline& deadline);

}  // namespace hearth

#endif  // HEARTH_CACHE_CONNECT_TO_SERVER_H_
