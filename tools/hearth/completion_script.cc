#include <fmt/format.h>

#include "tools/hearth/command_tree.h"

namespace hearth {
namespace {

// A command with the commands above it: "hearth cache ls".
struct Place {
  std::string path;
  const CommandNode* command = nullptr;
};

void ListPlaces(const CommandNode& command, const std::string& path, std::vector<Place>& places) {
  places.push_back({path, &command});
  for (const CommandNode& child : command.children) ListPlaces(child, path + " " + child.name, places);
}

std::string OptionNames(const CommandNode& command) {
  std::vector<std::string_view> names;
  for (const CommandOption& option : command.options) {
    if (!option.is_positional) names.push_back(option.name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

// The words that may stand without a dash: verbs, or the values of a positional; none: files.
std::string PlainWords(const CommandNode& command) {
  std::vector<std::string_view> words;
  for (const CommandNode& child : command.children) words.push_back(child.name);
  for (const CommandOption& option : command.options) {
    if (option.is_positional) words.insert(words.end(), option.choices.begin(), option.choices.end());
  }
  return fmt::format("{}", fmt::join(words, " "));
}

// The parts in which bash and zsh differ; the rest of the script is the same.
struct ShellWords {
  std::string_view head;    // sets `place`, the command named so far, from the words before the cursor
  std::string_view choose;  // offers the words that replace {}
  std::string_view files;
  std::string_view is_option;  // tests whether the word under the cursor begins with a dash
  std::string_view tail;
};

constexpr ShellWords kBash = {
    R"(# bash completion of hearth
_hearth() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} place=hearth word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
)",
    R"(COMPREPLY=($(compgen -W "{}" -- "$current")))", R"(COMPREPLY=($(compgen -f -- "$current")))",
    R"([[ $current == -* ]])", "complete -o filenames -F _hearth hearth\n"};

constexpr ShellWords kZsh = {
    R"(#compdef hearth
_hearth() {
  local current=$PREFIX previous=${words[CURRENT-1]} place=hearth word
  for word in "${words[@]:1:$((CURRENT-2))}"; do
)",
    R"(compadd -- {})", R"(_files)", R"([[ $current == -* ]])",
    R"(if [[ $funcstack[1] == _hearth ]]; then _hearth "$@"; else compdef _hearth hearth; fi
)"};

std::string Choose(const ShellWords& shell, const std::string& words) {
  return words.empty() ? std::string(shell.files) : fmt::format(fmt::runtime(shell.choose), words);
}

std::string PosixScript(const ShellWords& shell, const std::vector<Place>& places) {
  std::string text(shell.head);
  text += "    case \"$place $word\" in\n";
  for (const Place& place : places) {
    if (place.path != "hearth") text += fmt::format("      \"{}\") place=\"{}\" ;;\n", place.path, place.path);
  }
  text += "    esac\n  done\n  case \"$place $previous\" in\n";
  for (const Place& place : places) {
    for (const CommandOption& option : place.command->options) {
      if (option.is_positional || option.value.empty()) continue;
      text += fmt::format("    \"{} {}\") {}; return ;;\n", place.path, option.name,
                          Choose(shell, fmt::format("{}", fmt::join(option.choices, " "))));
    }
  }
  text += "  esac\n  case \"$place\" in\n";
  for (const Place& place : places) {
    text += fmt::format("    \"{}\") if {}; then {}; else {}; fi ;;\n", place.path, shell.is_option,
                        Choose(shell, OptionNames(*place.command)), Choose(shell, PlainWords(*place.command)));
  }
  return text + "  esac\n}\n" + std::string(shell.tail);
}

std::string FishQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

// True behind the names of this command and not behind a deeper one.
std::string FishCondition(const Place& place) {
  if (place.path == "hearth") return "__fish_use_subcommand";
  std::string condition;
  std::string_view rest = std::string_view(place.path).substr(sizeof("hearth ") - 1);
  while (!rest.empty()) {
    const size_t blank = std::min(rest.find(' '), rest.size());
    condition +=
        fmt::format("{}__fish_seen_subcommand_from {}", condition.empty() ? "" : "; and ", rest.substr(0, blank));
    rest.remove_prefix(std::min(blank + 1, rest.size()));
  }
  return condition;
}

std::string FishScript(const std::vector<Place>& places) {
  std::string text = "# fish completion of hearth\n";
  for (const Place& place : places) {
    const std::string condition = FishQuoted(FishCondition(place));
    for (const CommandNode& child : place.command->children) {
      text += fmt::format("complete -c hearth -f -n {} -a {} -d {}\n", condition, child.name,
                          FishQuoted(child.description));
    }
    for (const CommandOption& option : place.command->options) {
      if (option.is_positional) continue;
      text += fmt::format("complete -c hearth -n {} -l {}", condition, option.name.substr(2));
      if (!option.value.empty()) text += " -r";
      if (!option.choices.empty())
        text += fmt::format(" -f -a {}", FishQuoted(fmt::format("{}", fmt::join(option.choices, " "))));
      text += fmt::format(" -d {}\n", FishQuoted(option.description));
    }
  }
  return text;
}

}  // namespace

std::string CompletionScript(const CommandNode& program, const std::string& shell) {
  std::vector<Place> places;
  ListPlaces(program, program.name, places);
  if (shell == "fish") return FishScript(places);
  return PosixScript(shell == "zsh" ? kZsh : kBash, places);
}

}  // namespace hearth
