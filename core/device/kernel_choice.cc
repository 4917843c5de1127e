#include "core/device/kernel_choice.h"

#include <fmt/format.h>

#include <charconv>

#include "core/base/contains.h"

namespace hearth {
namespace {

// Reads a number from 1 to 4096 and the text `behind` that follows it.
bool TakeNumber(std::string_view& text, std::string_view behind, int32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 1 || number > 4096) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (!text.starts_with(behind)) return false;
  text.remove_prefix(behind.size());
  return true;
}

}  // namespace

std::vector<KernelChoice> WithoutRepeats(std::vector<KernelChoice> choices) {
  std::vector<KernelChoice> kept;
  for (KernelChoice& choice : choices) {
    if (!Contains(kept, choice)) kept.push_back(std::move(choice));
  }
  return kept;
}

std::string ToText(const KernelChoice& choice) {
  return fmt::format("{} {}x{} lanes {}", choice.variant, choice.rows, choice.cols, choice.lanes);
}

std::optional<KernelChoice> KernelChoiceFromText(std::string_view text) {
  const size_t space = text.find(' ');
  if (space == 0 || space == std::string_view::npos) return std::nullopt;
  KernelChoice choice;
  choice.variant = text.substr(0, space);
  text.remove_prefix(space + 1);
  const bool is_choice = TakeNumber(text, "x", choice.rows) && TakeNumber(text, " lanes ", choice.cols) &&
                         TakeNumber(text, "", choice.lanes) && text.empty();
  if (!is_choice) return std::nullopt;
  return choice;
}

}  // namespace hearth
