#include "tools/hearth/option_checks.h"

#include <cmath>
#include <cstdlib>

namespace hearth {

CLI::Validator NotEmpty(const std::string& what) {
  return CLI::Validator([what](std::string& text) { return text.empty() ? what + " is empty" : ""; }, "");
}

CLI::Validator Finite() {
  return CLI::Validator(
      [](std::string& text) { return std::isfinite(std::strtof(text.c_str(), nullptr)) ? "" : "must be finite"; }, "");
}

}  // namespace hearth
