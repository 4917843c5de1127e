// A cache server in the test's own process.
#ifndef HEARTH_TESTS_TESTING_COUNTED_SERVER_H_
#define HEARTH_TESTS_TESTING_COUNTED_SERVER_H_

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/fleet_store.h"

namespace hearth::testing {

// A server in this process that takes `answer_ms` per call and fails at call number `breaks_at`.
struct CountedServer {
  double answer_ms = 0;
  int breaks_at = 1000;
  int calls = 0;
  std::map<std::string, std::vector<std::byte>, std::less<>> values;
};

class CountedValues final : public RemoteValues {
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
  bool is_usable() const override { return server_.calls < server_.breaks_at; }
  std::string why_unusable() const override { return "it broke down"; }

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
inline FleetOptions FleetOf(const SigningKey& key) {
  FleetOptions options;
  options.trusted = {*PublicKeyOf(key)};
  options.sign_with = key;
  options.budget_ms = 60'000;
  return options;
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_COUNTED_SERVER_H_
