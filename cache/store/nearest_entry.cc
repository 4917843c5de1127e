#include "cache/store/nearest_entry.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/plan/key_fields.h"

namespace hearth {
namespace {

std::vector<CacheKeyDifference> Differences(const CacheKeyFields& wanted, const CacheKeyFields& stored) {
  std::vector<CacheKeyDifference> differences;
  std::multimap<std::string, std::string> left(stored.begin(), stored.end());
  for (const auto& field : wanted) {
    const auto [first, last] = left.equal_range(field.first);
    const auto same = std::find(first, last, std::pair<const std::string, std::string>(field));
    if (same != last) {
      left.erase(same);
    } else if (first != last) {
      differences.push_back({field.first, WordOfKeyField(field.first), field.second, first->second});
      left.erase(first);
    } else {
      differences.push_back({field.first, WordOfKeyField(field.first), field.second, std::nullopt});
    }
  }
  for (const auto& [field, value] : left) differences.push_back({field, WordOfKeyField(field), std::nullopt, value});
  return differences;
}

}  // namespace

std::optional<NearestEntry> FindNearestEntry(const std::vector<CacheEntry>& entries, std::string_view kind,
                                             const CacheKeyFields& wanted) {
  std::optional<NearestEntry> nearest;
  for (const CacheEntry& entry : entries) {
    if (entry.kind != kind) continue;
    std::vector<CacheKeyDifference> differences = Differences(wanted, entry.fields);
    if (nearest && differences.size() >= nearest->differences.size()) continue;
    nearest = NearestEntry{&entry, std::move(differences)};
  }
  return nearest;
}

}  // namespace hearth
