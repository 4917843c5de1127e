// The options of a session that are given as text, one row each: SetSessionOption, the program's flags and the plugin
// read them here.
#ifndef HEARTH_FRONTENDS_API_OPTION_TABLE_H_
#define HEARTH_FRONTENDS_API_OPTION_TABLE_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hearth/session.h"

namespace hearth {

template <typename T>
using OptionField = T& (*)(SessionOptions& options);

// What an option takes, and its field.
struct TextOption {
  OptionField<std::string> field;
};
struct SwitchOption {
  OptionField<bool> field;
};
struct NumberOption {
  OptionField<int> field;
  int least, most;
};
struct SizeOption {
  OptionField<uint64_t> field;
};
struct ListOption {
  OptionField<std::vector<std::string>> field;
  char separator;
};

// Verbs of the program take the flags of some groups.
enum class FlagGroup { kNone, kPlan, kTune, kCacheTier, kStart };

struct OptionFlag {
  FlagGroup group = FlagGroup::kNone;
  const char *names = nullptr, *type = "";
  std::string_view help;
  const char* default_text = nullptr;  // of the help; null: none, empty: the field's value
};

struct OptionRow {
  std::string_view name;
  std::variant<TextOption, SwitchOption, NumberOption, SizeOption, ListOption> kind;
  std::string_view values = {};                      // in words; empty: `choices`, or OptionValues() says it
  std::string_view choices = {};                     // separated by ", "; empty: anything
  std::array<std::string_view, 2> other_names = {};  // also taken, but not listed
  bool in_plugin = false;
  OptionFlag flag = {};
  // kInvalidArgument for a value, of a list each, that no model and no machine makes right. Null: there is none, or
  // `choices` says it.
  Status (*check)(std::string_view value) = nullptr;
};

std::span<const OptionRow> OptionRows();
// The values that the option takes, in words.
std::string_view OptionValues(const OptionRow& row);
// Null for an unknown name.
const OptionRow* FindOption(std::string_view name);
// "NAME=VALUE", parted at this '='; `meant` is what an error shows. kInvalidArgument: no '=' or no name.
struct NamedText {
  std::string name, value;
};
Result<NamedText> SplitNamed(std::string_view text, size_t equals, std::string_view meant);
// "height=320": what the option "dimensions" lists. kInvalidArgument: anything else.
Result<std::pair<std::string, int32_t>> ParseNamedSize(std::string_view text);
// kInvalidArgument, with the one of `names` that is likely to be meant and with all of them.
Status NoSuchOption(std::string_view name, std::span<const std::string> names);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_OPTION_TABLE_H_
