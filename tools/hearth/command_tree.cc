#include "tools/hearth/command_tree.h"

#include <string_view>

#include "frontends/engine/backends.h"

namespace hearth {
namespace {

// "P:{fp32,fp16}" contains the values that CLI::IsMember allows.
std::vector<std::string> ChoicesIn(std::string_view type_name) {
  std::vector<std::string> choices;
  const size_t open = type_name.find('{'), close = type_name.find('}');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return choices;
  std::string_view list = type_name.substr(open + 1, close - open - 1);
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    choices.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return choices;
}

CommandOption OptionOf(const CLI::Option& option) {
  CommandOption result;
  result.is_positional = option.get_positional();
  result.name = result.is_positional ? option.get_name(true, false) : "--" + option.get_lnames().front();
  result.description = option.get_description();
  if (option.get_items_expected_max() > 0) {
    const std::string type_name = option.get_type_name();
    result.choices = ChoicesIn(type_name);
    result.value = type_name.substr(0, type_name.find(':'));
    if (result.value.starts_with('{')) result.value = "VALUE";
  }
  if (result.name == "--device") {
    result.choices = {"auto", "cpu", "gpu"};
    for (const std::string& name : BackendNames()) result.choices.push_back(name);
  }
  return result;
}

std::string ExampleIn(const std::string& footer) {
  constexpr std::string_view kHead = "Example:\n  ";
  if (!footer.starts_with(kHead)) return "";
  return footer.substr(kHead.size(), footer.find('\n', kHead.size()) - kHead.size());
}

}  // namespace

CommandNode TreeOf(const CLI::App& app) {
  CommandNode node{app.get_name(), app.get_description(), ExampleIn(app.get_footer()), {}, {}};
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    if (option->get_positional() || !option->get_lnames().empty()) node.options.push_back(OptionOf(*option));
  }
  for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; })) {
    node.children.push_back(TreeOf(*child));
  }
  return node;
}

}  // namespace hearth
