// Warnings to a user, one for each kind of trouble.
#ifndef HEARTH_CORE_BASE_WARNINGS_H_
#define HEARTH_CORE_BASE_WARNINGS_H_

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth {

class Warnings {
 public:
  // Keeps `text` unless a warning of this kind came before.
  void Add(std::string_view kind, std::string text) {
    if (kinds_.emplace(kind).second) texts_.push_back(std::move(text));
  }
  std::vector<std::string> Take() { return std::exchange(texts_, {}); }

 private:
  std::set<std::string, std::less<>> kinds_;
  std::vector<std::string> texts_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_WARNINGS_H_
