#include "core/base/size_text.h"

#include <charconv>
#include <cmath>

#include "core/base/error.h"

namespace hearth {

Result<uint64_t> ParseSizeBytes(std::string_view text) {
  const auto no_size = [&] {
    return Error(
        StatusCode::kInvalidArgument,
        "'{}' is not a size: give bytes, or a number with K, M, G or T (also MiB, and MB of 1000 x 1000), like 1.5G",
        text);
  };
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (parsed.ec != std::errc() || !(number >= 0)) return no_size();
  std::string_view unit(parsed.ptr, static_cast<size_t>(text.data() + text.size() - parsed.ptr));
  constexpr std::string_view kUnits = "KMGT";
  double factor = 1;
  if (!unit.empty() && unit != "B") {
    const size_t power = kUnits.find(unit[0]);
    const std::string_view rest = unit.substr(1);
    if (power == std::string_view::npos || !(rest.empty() || rest == "B" || rest == "iB")) return no_size();
    factor = std::pow(rest == "B" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
  }
  const double bytes = number * factor;
  constexpr double kMost = 9e18;
  const bool is_rounded_to_none = bytes > 0 && bytes < 1;  // which would delete all
  if (bytes > kMost || is_rounded_to_none || (factor == 1 && bytes != std::floor(bytes))) return no_size();
  return static_cast<uint64_t>(bytes);
}

}  // namespace hearth
