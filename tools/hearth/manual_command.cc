// `hearth manual` and `hearth completion`: texts made from the verbs' declarations, so they can't differ from --help.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text.h"
#include "hearth/version.h"
#include "runtime/devices/backends.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/verb.h"

namespace hearth {

extern const EmbeddedFile kManualEnd[];  // manual_end.roff

namespace {

// ---- The program's verbs and options as data ----

struct CommandOption {
  std::string name;                  // "--device"; "MODEL" if it is positional
  std::string value;                 // "D"; empty for a flag
  std::string description;           // one line
  std::vector<std::string> choices;  // the allowed values if they are a short list
  bool is_positional = false;
};

struct CommandNode {
  std::string name;  // "cache"
  std::string description, example;
  std::vector<CommandOption> options;
  std::vector<CommandNode> children;
};

// "P:{fp32,fp16}" contains the values that CLI::IsMember allows.
std::vector<std::string> ChoicesIn(std::string_view type_name) {
  const size_t open = type_name.find('{'), close = type_name.find('}');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  const std::vector<std::string_view> choices = PartsOf(type_name.substr(open + 1, close - open - 1), ',');
  return {choices.begin(), choices.end()};
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

// ---- Completion ----

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
  std::string_view tail;
};

constexpr ShellWords kBash = {
    R"(# bash completion of hearth
_hearth() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} place=hearth word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
)",
    R"(COMPREPLY=($(compgen -W "{}" -- "$current")))", R"(COMPREPLY=($(compgen -f -- "$current")))",
    "complete -o filenames -F _hearth hearth\n"};

constexpr ShellWords kZsh = {
    R"(#compdef hearth
_hearth() {
  local current=$PREFIX previous=${words[CURRENT-1]} place=hearth word
  for word in "${words[@]:1:$((CURRENT-2))}"; do
)",
    R"(compadd -- {})", R"(_files)",
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
    text += fmt::format("    \"{}\") if [[ $current == -* ]]; then {}; else {}; fi ;;\n", place.path,
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
  const std::vector<std::string_view> names = PartsOf(std::string_view(place.path).substr(sizeof("hearth ") - 1), ' ');
  return fmt::format("__fish_seen_subcommand_from {}", fmt::join(names, "; and __fish_seen_subcommand_from "));
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

// A script that completes verbs, options, their choices and file names. `shell` is "bash", "zsh" or "fish".
std::string CompletionScript(const CommandNode& program, const std::string& shell) {
  std::vector<Place> places;
  ListPlaces(program, program.name, places);
  if (shell == "fish") return FishScript(places);
  return PosixScript(shell == "zsh" ? kZsh : kBash, places);
}

// ---- The manual page ----

// roff interprets backslashes and hyphens, and dots and quotes at the beginning of a line.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string OptionText(const CommandOption& option) {
  std::string text = fmt::format(".TP\n.B {}", Escaped(option.name));
  if (!option.value.empty() && !option.is_positional) text += fmt::format(" \\fI{}\\fR", Escaped(option.value));
  text += fmt::format("\n{}", Escaped(option.description));
  if (!option.choices.empty() && option.description.find(option.choices[0]) == std::string::npos)
    text += fmt::format(" ({})", Escaped(fmt::format("{}", fmt::join(option.choices, ", "))));
  return text + "\n";
}

std::string CommandText(const CommandNode& command, const std::string& path) {
  std::string text = fmt::format(".SS {}\n{}.\n", Escaped(path), Escaped(command.description));
  for (const CommandOption& option : command.options) {
    if (option.name != "--help") text += OptionText(option);
  }
  if (!command.example.empty())
    text += fmt::format(".PP\nExample:\n.PP\n.RS\n.nf\n{}\n.fi\n.RE\n", Escaped(command.example));
  for (const CommandNode& child : command.children) text += CommandText(child, path + " " + child.name);
  return text;
}

// The manual page hearth(1) in the man macros of roff.
std::string ManualPage(const CommandNode& program, const std::string& version) {
  std::string text = fmt::format(".TH HEARTH 1 \"\" \"Hearth {}\" \"User commands\"\n", version);
  text += fmt::format(".SH NAME\nhearth \\- {}\n", Escaped(program.description));
  text += ".SH SYNOPSIS\n.B hearth\n.I VERB\n[\\fIoptions\\fR]\n.SH DESCRIPTION\n";
  text += Escaped(
      "Hearth runs neural networks (.tflite and .onnx files) on the compute driver that a machine has: Vulkan, OpenCL "
      "or OpenGL "
      "ES, and the CPU for the rest. Expensive results of a start are kept in a cache, so that the second start is "
      "quick.\nData go to standard output, errors and warnings to standard error.\n");
  text += ".SH VERBS\n";
  for (const CommandNode& verb : program.children) text += CommandText(verb, "hearth " + verb.name);
  return text.append(kManualEnd[0].text);
}

// ---- The verbs ----

class ManualCommand final : public Verb {
 public:
  ManualCommand() : Verb({"manual", "The manual page, for man", "hearth manual | man -l -"}) {}

  void AddOptions(CLI::App& app) override { program_ = app.get_parent(); }

  Result<ExitCode> Run() override {
    OutputOptions().PrintText(ManualPage(TreeOf(*program_), HEARTH_VERSION));
    return ExitCode::kFine;
  }

 private:
  const CLI::App* program_ = nullptr;
};

class CompletionCommand final : public Verb {
 public:
  CompletionCommand()
      : Verb({"completion", "Prints a script for a shell to complete verbs, options and files",
              "source <(hearth completion bash)"}) {}

  void AddOptions(CLI::App& app) override {
    program_ = app.get_parent();
    app.add_option("SHELL", shell_, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  }

  Result<ExitCode> Run() override {
    OutputOptions().PrintText(CompletionScript(TreeOf(*program_), shell_));
    return ExitCode::kFine;
  }

 private:
  const CLI::App* program_ = nullptr;
  std::string shell_;
};

}  // namespace

std::unique_ptr<Verb> MakeManualCommand() {
  return std::make_unique<ManualCommand>();
}

std::unique_ptr<Verb> MakeCompletionCommand() {
  return std::make_unique<CompletionCommand>();
}

}  // namespace hearth
