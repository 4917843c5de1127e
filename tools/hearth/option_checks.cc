#include "tools/hearth/option_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/base/text.h"

namespace hearth {

CLI::Validator NotEmpty(const std::string& what) {
  return CLI::Validator([what](std::string& text) { return text.empty() ? what + " is empty" : ""; }, "");
}

CLI::Validator Finite() {
  return CLI::Validator(
      [](std::string& text) {
        char* rest = nullptr;
        const bool is_finite = std::isfinite(std::strtof(text.c_str(), &rest)) && *rest == '\0';
        return is_finite ? std::string() : fmt::format("'{}' is not a finite number", text);
      },
      "");
}

CLI::Validator WholeNumber() {
  return CLI::Validator(
      [](std::string& text) {
        uint64_t number = 0;
        return NumberFrom(text, number) ? "" : "must be a whole number of at most 64 bits, without a sign";
      },
      "");
}

}  // namespace hearth
