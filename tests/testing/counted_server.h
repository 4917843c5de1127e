// A cache server in the test's own process.
#ifndef HEARTH_TESTS_TESTING_COUNTED_SERVER_H_
#define HEARTH_TESTS_TESTING_COUNTED_SERVER_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/sources/key_value_source.h"
#include "core/store/result_cache.h"

namespace hearth::testing {

// A server in this process that takes `answer_ms` per call and fails at call number `breaks_at`.
struct CountedServer {
  double answer_ms = 0;
  int breaks_at = 1000;
  int calls = 0;
  std::map<std::string, std::vector<std::byte>, std::less<>> values;
};

class CountedValues final : public KeyValueStore {
 public:
  explicit CountedValues(CountedServer& server) : server_(server) {}
  std::optional<std::vector<std::byte>> Read(std::string_view key) override {
    Answer();
    const auto found = server_.values.find(key);
    return found == server_.values.end() ? std::nullopt : std::optional(found->second);
  }
  bool Write(std::string_view key, std::span<const std::byte> value) override {
    Answer();
    server_.values[std::string(key)].assign(value.begin(), value.end());
    return true;
  }
  std::string why_unusable() const override { return server_.calls < server_.breaks_at ? "" : "it broke down"; }

 private:
  void Answer() {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::duration<double, std::milli>(server_.answer_ms)) {
    }
    ++server_.calls;
  }
  CountedServer& server_;
};

// For machines that sign with this key and trust it, and have all the time that the server takes.
inline ServerOptions FleetOf(const SigningKey& key) {
  ServerOptions options;
  options.trusted = {*PublicKeyOf(key)};
  options.sign_with = key;
  options.budget_ms = 60'000;
  return options;
}

// `local` with this server behind it.
inline CacheParts Served(CacheParts local, std::unique_ptr<KeyValueStore> values, ServerOptions options) {
  local.server = std::make_unique<ServerSource>(std::move(values), std::move(options));
  return local;
}
inline CacheParts Served(CacheParts local, CountedServer& server, ServerOptions options) {
  return Served(std::move(local), std::make_unique<CountedValues>(server), std::move(options));
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_COUNTED_SERVER_H_
