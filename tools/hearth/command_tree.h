// The program's verbs and options as data, read from the verbs' declarations. The manual page and shell completions are
// made from it, so they can't differ from --help.
#ifndef HEARTH_TOOLS_HEARTH_COMMAND_TREE_H_
#define HEARTH_TOOLS_HEARTH_COMMAND_TREE_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace hearth {

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

CommandNode TreeOf(const CLI::App& app);

// A script that completes verbs, options, their choices and file names. `shell` is "bash", "zsh" or "fish".
std::string CompletionScript(const CommandNode& program, const std::string& shell);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_COMMAND_TREE_H_
