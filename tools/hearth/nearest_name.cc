#include "tools/hearth/nearest_name.h"

#include <algorithm>
#include <vector>

namespace hearth {
namespace {

constexpr size_t kMostMistakes = 2;

// Damerau's distance in the form that edits no part twice.
size_t Mistakes(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t changed = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, changed});
      const bool are_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (are_swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string Nearest(std::string_view word, std::span<const std::string> names) {
  constexpr size_t kMostLetters = 64;  // the longest word that is compared
  std::string nearest;
  size_t fewest = kMostMistakes + 1;
  for (const std::string& name : names) {
    if (word.size() > kMostLetters) break;
    const size_t mistakes = Mistakes(word, name);
    if (mistakes >= fewest || 2 * mistakes >= word.size()) continue;
    fewest = mistakes;
    nearest = name;
  }
  return nearest;
}

}  // namespace hearth
