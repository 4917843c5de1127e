#include "redis/address.h"

#include <charconv>
#include <optional>

#include "core/base/error.h"
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kExpected =
    "give host:port, redis://user:password@host:port/database or rediss:// for TLS, with "
    "?ttl=30d&max-entry=64M&ca=FILE";

Status Wrong(std::string_view what) {
  return Error(StatusCode::kInvalidArgument, "the cache server's address {}: {}", what, kExpected);
}

template <typename T>
bool ParseNumber(std::string_view text, T least, T most, T& number) {
  return NumberFrom(text, number) && number >= least && number <= most;
}

// Replaces %3A and similar escapes.
std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    if (text.front() != '%') {
      plain += text.front();
      text.remove_prefix(1);
      continue;
    }
    unsigned code = 0;
    if (text.size() < 3) return std::nullopt;
    const auto parsed = std::from_chars(text.data() + 1, text.data() + 3, code, 16);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + 3) return std::nullopt;
    plain += static_cast<char>(code);
    text.remove_prefix(3);
  }
  return plain;
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Cuts off the part of `text` after `mark` and returns it; nullopt if there is no mark.
std::optional<std::string_view> CutAfter(std::string_view& text, char mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view behind = text.substr(at + 1);
  text = text.substr(0, at);
  return behind;
}

Status ParseHostAndPort(std::string_view text, ServerAddress& address) {
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return Wrong("lacks a ']'");
    address.host = text.substr(1, end - 1);
    std::string_view behind = text.substr(end + 1);
    port = CutAfter(behind, ':');
    if (!behind.empty()) return Wrong("has something after ']' that is not a port");
  } else {
    if (text.find(':') == text.rfind(':')) port = CutAfter(text, ':');  // several: IPv6 without a port
    address.host = text;
  }
  if (address.host.empty()) return Wrong("names no host");
  if (port && !ParseNumber(*port, 1, 65535, address.port)) return Wrong("has an invalid port");
  return Status::Ok();
}

Status ParseUser(std::string_view text, ServerAddress& address) {
  const auto behind = CutAfter(text, ':');
  const std::optional<std::string> user = PercentDecoded(text), password = PercentDecoded(behind.value_or(""));
  if (!user || !password) return Wrong("has a user or password with a '%' that is not an escape");
  address.user = *user;
  address.password = *password;
  return Status::Ok();
}

// "3600", "30d", "12h", "45m", "10s"
bool ParseSeconds(std::string_view text, int64_t& seconds) {
  constexpr std::string_view kUnits = "smhd";
  constexpr int64_t kSecondsOf[] = {1, 60, 3600, 86400};
  int64_t factor = 1;
  if (!text.empty() && kUnits.find(text.back()) != std::string_view::npos) {
    factor = kSecondsOf[kUnits.find(text.back())];
    text.remove_suffix(1);
  }
  constexpr int64_t kMost = 1'000'000'000;
  if (!ParseNumber(text, int64_t{1}, kMost, seconds)) return false;
  seconds *= factor;
  return true;
}

Status ParseOption(std::string_view text, ServerAddress& address) {
  std::string_view name = text;
  const std::string_view value = CutAfter(name, '=').value_or("");
  if (name == "ttl" && ParseSeconds(value, address.time_to_live_s)) return Status::Ok();
  if (name == "max-entry") {
    const Result<uint64_t> bytes = ParseSizeBytes(value);
    if (bytes.ok() && *bytes > 0) {
      address.max_entry_bytes = *bytes;
      return Status::Ok();
    }
  }
  if (name == "ca" && !value.empty()) {
    if (const std::optional<std::string> file = PercentDecoded(value)) {
      address.ca_file = *file;
      return Status::Ok();
    }
  }
  return Wrong(fmt::format("has an invalid option ('{}')", text));
}

}  // namespace

std::string ServerAddress::text() const {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return fmt::format("{}{}{}{}:{}", is_tls ? "rediss://" : "", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "", port);
}

Result<ServerAddress> ParseServerAddress(std::string_view text) {
  ServerAddress address;
  address.is_tls = TakePrefix(text, "rediss://");
  if (!address.is_tls) TakePrefix(text, "redis://");
  const std::string_view options = CutAfter(text, '?').value_or("");
  const auto database = CutAfter(text, '/');
  if (database && !database->empty() && !ParseNumber(*database, 0, 1'000'000, address.database)) {
    return Wrong("has a database that is not a number");
  }
  if (const size_t at = text.rfind('@'); at != std::string_view::npos) {
    HEARTH_TRY(ParseUser(text.substr(0, at), address));
    text.remove_prefix(at + 1);
  }
  HEARTH_TRY(ParseHostAndPort(text, address));
  for (const std::string_view option : PartsOf(options, '&')) HEARTH_TRY(ParseOption(option, address));
  return address;
}

}  // namespace hearth
