#include "core/emit/first_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/emit/helpers.h"

namespace hearth {
namespace {

constexpr std::string_view kPrefix = "FROM_FIRST_";

// Replaces GID and WGID by other names, which the defines below give.
std::string Renamed(std::string_view body) {
  std::string text;
  for (size_t at = 0; at < body.size();) {
    size_t end = at;
    while (end < body.size() && IsOfIdentifier(body[end])) ++end;
    const std::string_view word = body.substr(at, end - at);
    if (word == "GID" || word == "WGID") text += kPrefix;
    end = std::max(end, at + 1);
    text += body.substr(at, end - at);
    at = end;
  }
  return text;
}

// Defines `id` of dimension d as the dialect's plus `items` for each group before the first.
Define CountingOn(std::string_view id, const std::array<uint32_t, 3>& items) {
  return {fmt::format("{}{}(d)", kPrefix, id),
          fmt::format("({}(d) + ((d) == 0 ? {} * {} : (d) == 1 ? {} * {} : {} * {}))", id, kFirstGroup[0], items[0],
                      kFirstGroup[1], items[1], kFirstGroup[2], items[2])};
}

}  // namespace

KernelSource WithFirstGroup(KernelSource source) {
  source.body = Renamed(source.body);
  source.defines.push_back(CountingOn("GID", source.local_size));
  source.defines.push_back(CountingOn("WGID", {1, 1, 1}));
  for (const std::string_view name : kFirstGroup) source.scalars.push_back({std::string(name), ScalarType::kInt});
  return source;
}

}  // namespace hearth
