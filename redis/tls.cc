#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/types.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <utility>

#include "core/base/blocked_signal.h"
#include "core/base/dynamic_library.h"
#include "core/base/error.h"
#include "redis/connection.h"

namespace hearth {
namespace {

// A function of a library, of the type of what it initializes. Notes the first one that is missing.
struct Symbol {
  const DynamicLibrary& library;
  const char* name;
  const char*& missing;

  template <typename Function>
  operator Function*() const {  // NOLINT(google-explicit-constructor)
    Function* const found = library.Symbol<Function*>(name);
    if (found == nullptr && missing == nullptr) missing = name;
    return found;
  }
};

// The functions of OpenSSL 3 that Hearth calls, through its documented C interface; its types stay opaque.
struct TlsApi {
  DynamicLibrary tls, crypto;
  const char* missing = nullptr;  // a function that they lack
  const void* (*TLS_client_method)() = Symbol{tls, "TLS_client_method", missing};
  void* (*SSL_CTX_new)(const void*) = Symbol{tls, "SSL_CTX_new", missing};
  void (*SSL_CTX_free)(void*) = Symbol{tls, "SSL_CTX_free", missing};
  int (*SSL_CTX_set_default_verify_paths)(void*) = Symbol{tls, "SSL_CTX_set_default_verify_paths", missing};
  int (*SSL_CTX_load_verify_locations)(void*, const char*, const char*) = Symbol{tls, "SSL_CTX_load_verify_locations",
                                                                                 missing};
  void (*SSL_CTX_set_verify)(void*, int, void*) = Symbol{tls, "SSL_CTX_set_verify", missing};
  void* (*SSL_new)(void*) = Symbol{tls, "SSL_new", missing};
  void (*SSL_free)(void*) = Symbol{tls, "SSL_free", missing};
  int (*SSL_set_fd)(void*, int) = Symbol{tls, "SSL_set_fd", missing};
  int (*SSL_set1_host)(void*, const char*) = Symbol{tls, "SSL_set1_host", missing};
  void* (*SSL_get0_param)(void*) = Symbol{tls, "SSL_get0_param", missing};
  long (*SSL_ctrl)(void*, int, long, void*) = Symbol{tls, "SSL_ctrl", missing};
  int (*SSL_connect)(void*) = Symbol{tls, "SSL_connect", missing};
  int (*SSL_read)(void*, void*, int) = Symbol{tls, "SSL_read", missing};
  int (*SSL_write)(void*, const void*, int) = Symbol{tls, "SSL_write", missing};
  int (*SSL_get_error)(const void*, int) = Symbol{tls, "SSL_get_error", missing};
  long (*SSL_get_verify_result)(const void*) = Symbol{tls, "SSL_get_verify_result", missing};
  int (*X509_VERIFY_PARAM_set1_ip_asc)(void*, const char*) = Symbol{crypto, "X509_VERIFY_PARAM_set1_ip_asc", missing};
  const char* (*X509_verify_cert_error_string)(long) = Symbol{crypto, "X509_verify_cert_error_string", missing};
  void (*ERR_clear_error)() = Symbol{crypto, "ERR_clear_error", missing};
};

constexpr int kVerifyPeer = 1, kWantRead = 2, kWantWrite = 3, kSetHostName = 55;

Result<TlsApi> LoadTlsOnce() {
  constexpr const char* kTls[] = {"libssl.so.3"};
  constexpr const char* kCrypto[] = {"libcrypto.so.3"};
  Result<DynamicLibrary> tls = DynamicLibrary::Open(kTls);
  if (!tls.ok()) return tls.status().Within("TLS to a cache server needs OpenSSL 3");
  Result<DynamicLibrary> crypto = DynamicLibrary::Open(kCrypto);
  if (!crypto.ok()) return crypto.status().Within("TLS to a cache server needs OpenSSL 3");
  TlsApi api{std::move(tls).value(), std::move(crypto).value()};
  if (api.missing != nullptr) return Error(StatusCode::kUnavailable, "this OpenSSL lacks {}: update it", api.missing);
  api.tls.Leak();
  api.crypto.Leak();
  return api;
}

Result<const TlsApi*> LoadTls() {
  static const Result<TlsApi> loaded = LoadTlsOnce();
  if (!loaded.ok()) return loaded.status();
  return &loaded.value();
}

bool IsNumeric(const std::string& host) {
  in6_addr room;
  return ::inet_pton(AF_INET, host.c_str(), &room) == 1 || ::inet_pton(AF_INET6, host.c_str(), &room) == 1;
}

class TlsConnection final : public ServerConnection {
 public:
  TlsConnection(const TlsApi* api, Descriptor socket) : api_(api), socket_(std::move(socket)) {}
  ~TlsConnection() override {
    if (ssl_ != nullptr) api_->SSL_free(ssl_);
    if (context_ != nullptr) api_->SSL_CTX_free(context_);
  }
  TlsConnection(const TlsConnection&) = delete;
  TlsConnection& operator=(const TlsConnection&) = delete;

  Status Open(const ServerAddress& address, const Deadline& deadline) {
    context_ = api_->SSL_CTX_new(api_->TLS_client_method());
    if (context_ == nullptr) return Error(StatusCode::kUnavailable, "OpenSSL can't create a context");
    const bool has_roots = address.ca_file.empty()
                               ? api_->SSL_CTX_set_default_verify_paths(context_) == 1
                               : api_->SSL_CTX_load_verify_locations(context_, address.ca_file.c_str(), nullptr) == 1;
    if (!has_roots) {
      return Error(StatusCode::kUnavailable, "the certificates of {} can't be read",
                   address.ca_file.empty() ? "the system" : address.ca_file);
    }
    api_->SSL_CTX_set_verify(context_, kVerifyPeer, nullptr);
    ssl_ = api_->SSL_new(context_);
    if (ssl_ == nullptr || api_->SSL_set_fd(ssl_, socket_.get()) != 1 || !SetName(address.host)) {
      return Error(StatusCode::kUnavailable, "OpenSSL can't create a connection");
    }
    Status status = Repeat(deadline, [this] { return api_->SSL_connect(ssl_); }).status();
    const long verified = api_->SSL_get_verify_result(ssl_);
    if (!status.ok() && verified != 0) {
      return Error(StatusCode::kUnavailable, "its certificate is refused: {}",
                   api_->X509_verify_cert_error_string(verified));
    }
    return status;
  }

  Status Write(std::span<const std::byte> bytes, const Deadline& deadline) override {
    while (!bytes.empty()) {
      const int part = static_cast<int>(std::min<size_t>(bytes.size(), INT_MAX));
      HEARTH_ASSIGN(const int count, Repeat(deadline, [&] { return api_->SSL_write(ssl_, bytes.data(), part); }));
      bytes = bytes.subspan(static_cast<size_t>(count));
    }
    return Status::Ok();
  }

  Result<size_t> Read(std::span<std::byte> room, const Deadline& deadline) override {
    const int part = static_cast<int>(std::min<size_t>(room.size(), INT_MAX));
    HEARTH_ASSIGN(const int count, Repeat(deadline, [&] { return api_->SSL_read(ssl_, room.data(), part); }));
    return static_cast<size_t>(count);
  }

 private:
  bool SetName(const std::string& host) {
    if (IsNumeric(host)) return api_->X509_VERIFY_PARAM_set1_ip_asc(api_->SSL_get0_param(ssl_), host.c_str()) == 1;
    std::string name = host;
    return api_->SSL_set1_host(ssl_, host.c_str()) == 1 && api_->SSL_ctrl(ssl_, kSetHostName, 0, name.data()) == 1;
  }

  // Repeats `call` until it returns more than 0.
  template <typename Call>
  Result<int> Repeat(const Deadline& deadline, const Call& call) {
    // OpenSSL writes without MSG_NOSIGNAL: a server that closes the connection would end the process.
    const BlockedSignal held(SIGPIPE);
    while (true) {
      if (deadline.is_over()) return Error(StatusCode::kUnavailable, "it does not answer in time");
      api_->ERR_clear_error();
      const int result = call();
      if (result > 0) return result;
      const int error = api_->SSL_get_error(ssl_, result);
      if (error != kWantRead && error != kWantWrite) {
        return Error(StatusCode::kUnavailable, "TLS with it failed, or it closed the connection");
      }
      HEARTH_TRY(WaitForSocket(socket_.get(), error == kWantRead ? POLLIN : POLLOUT, deadline));
    }
  }

  const TlsApi* api_;
  Descriptor socket_;
  void* context_ = nullptr;
  void* ssl_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<ServerConnection>> ConnectTls(Descriptor socket, const ServerAddress& address,
                                                     const Deadline& deadline) {
  HEARTH_ASSIGN(const TlsApi* api, LoadTls());
  auto connection = std::make_unique<TlsConnection>(api, std::move(socket));
  HEARTH_TRY(connection->Open(address, deadline));
  return std::unique_ptr<ServerConnection>(std::move(connection));
}

}  // namespace hearth
