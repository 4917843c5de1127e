// Servers on loopback for tests of the shared cache: a real redis-server, and ones that misbehave.
#ifndef HEARTH_TESTS_TESTING_REDIS_SERVER_H_
#define HEARTH_TESTS_TESTING_REDIS_SERVER_H_

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "redis/redis_store.h"

namespace hearth::testing {

// A socket that listens on a free port of loopback and never answers.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(socket_, 8) == 0 &&
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
      port_ = ntohs(address.sin_port);
    }
  }
  ~SilentServer() { Close(); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  void Close() {
    if (socket_ >= 0) {
      ::shutdown(socket_, SHUT_RDWR);
      ::close(socket_);
    }
    socket_ = -1;
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }
  int socket() const { return socket_; }

 private:
  int socket_ = -1, port_ = 0;
};

// Answers the first connection with a text, piece by piece, whatever the request; then closes it or stays silent.
class ScriptedServer {
 public:
  ScriptedServer(std::vector<std::string> pieces, int pause_us, bool closes)
      : thread_([this, pieces = std::move(pieces), pause_us, closes] {
          const int connection = ::accept(listener_.socket(), nullptr, nullptr);
          char room[4096];
          if (connection < 0 || ::recv(connection, room, sizeof(room), 0) <= 0) return;
          for (const std::string& piece : pieces) {
            if (is_over_ || ::send(connection, piece.data(), piece.size(), MSG_NOSIGNAL) < 0) break;
            if (pause_us > 0) ::usleep(static_cast<unsigned>(pause_us));
          }
          if (!closes) {
            while (::recv(connection, room, sizeof(room), 0) > 0) {
            }
          }
          ::close(connection);
        }) {}
  ~ScriptedServer() {
    is_over_ = true;
    listener_.Close();
    thread_.join();
  }
  std::string address() const { return listener_.address(); }

 private:
  SilentServer listener_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

// redis-server as a child process, without files. `is_there` is false if it is not installed or does not start.
class RedisServer {
 public:
  // `url`: the address for a client with all rights, with %PORT%. `arguments` come last.
  explicit RedisServer(const std::vector<std::string>& arguments = {}, std::string url = "127.0.0.1:%PORT%") {
    SilentServer free_port;
    const std::string port = std::to_string(free_port.port());
    free_port.Close();
    url.replace(url.find("%PORT%"), 6, port);
    address_ = url;
    port_ = port;
    std::vector<std::string> words = {"redis-server", "--port",  port,    "--bind", "127.0.0.1", "--save", "",
                                      "--loglevel",   "warning", "--dir", "/tmp"};
    for (const std::string& argument : arguments) words.push_back(argument == "%PORT%" ? port : argument);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    child_ = ::fork();
    if (child_ == 0) {
      ::alarm(120);
      const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      ::dup2(nowhere, 1);
      ::execvp("redis-server", pointers.data());
      ::_exit(127);
    }
    for (int tries = 0; tries < 500 && !is_there_; ++tries) {
      if (::waitpid(child_, nullptr, WNOHANG) != 0) {
        child_ = -1;
        return;
      }
      auto server = OpenRedisStore({address_, 1000, 1000});
      if (!server.ok()) return;
      static_cast<void>(server->values->Read("ping"));
      is_there_ = server->values->why_unusable().empty();
      if (!is_there_) ::usleep(10000);
    }
  }
  ~RedisServer() { Stop(); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  void Stop() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  bool is_there() const { return is_there_; }
  const std::string& address() const { return address_; }
  const std::string& port() const { return port_; }

 private:
  std::string address_, port_;
  pid_t child_ = -1;
  bool is_there_ = false;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_REDIS_SERVER_H_
