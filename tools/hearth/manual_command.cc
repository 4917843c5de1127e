// `hearth manual` and `hearth completion`: texts made from the verbs' declarations.
#include <fmt/format.h>

#include "hearth/version.h"
#include "tools/hearth/command_tree.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

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

struct Entry {
  std::string_view name, meaning;
};

constexpr Entry kExitCodes[] = {
    {"0", "Fine."},
    {"1",
     "The work failed, or a check found something: a device lost in a run, damage found by verify, an import "
     "refused for trust."},
    {"2", "Wrong usage; also a destructive verb without --yes where there is no terminal."},
    {"3",
     "Bad input: a missing or malformed model, image or array, a wrong name or shape, an operation that nothing "
     "can run."},
    {"4", "The requested device is not usable."},
};

constexpr Entry kVariableEntries[] = {
    {"HEARTH_CACHE_DIR", "The cache's folder; else $XDG_CACHE_HOME/hearth, else ~/.cache/hearth."},
    {"HEARTH_CACHE_LAYERS", "Read-only cache folders that are looked up first, separated by colons."},
    {"HEARTH_CACHE_LAYER_KEYS", "The file of the public keys whose signatures make such a folder usable."},
    {"HEARTH_CACHE_MAX_SIZE", "The cache's size limit, such as 512M; default 1 GiB."},
    {"HEARTH_CACHE_SERVER",
     "A Redis server with entries that machines share: host:port, or redis:// and rediss:// addresses."},
    {"HEARTH_CACHE_SERVER_KEYS", "The file of the public keys whose entries are trusted."},
    {"HEARTH_CACHE_SERVER_SIGN", "The file of the secret key that signs what this machine stores there."},
    {"HEARTH_DEVICE", "The device if --device is not given."},
};

template <size_t kCount>
std::string EntriesText(const Entry (&entries)[kCount]) {
  std::string text;
  for (const Entry& entry : entries) text += fmt::format(".TP\n.B {}\n{}\n", entry.name, Escaped(entry.meaning));
  return text;
}

// The manual page hearth(1) in the man macros of roff.
std::string ManualPage(const CommandNode& program, const std::string& version) {
  std::string text = fmt::format(".TH HEARTH 1 \"\" \"Hearth {}\" \"User commands\"\n", version);
  text += fmt::format(".SH NAME\nhearth \\- {}\n", Escaped(program.description));
  text += ".SH SYNOPSIS\n.B hearth\n.I VERB\n[\\fIoptions\\fR]\n.SH DESCRIPTION\n";
  text += Escaped(
      "Hearth runs neural networks (.tflite files) on the compute driver that a machine has: Vulkan, OpenCL or OpenGL "
      "ES, and the CPU for the rest. Expensive results of a start are kept in a cache, so that the second start is "
      "quick.\nData go to standard output, errors and warnings to standard error.\n");
  text += ".SH VERBS\n";
  for (const CommandNode& verb : program.children) text += CommandText(verb, "hearth " + verb.name);
  text += ".SH EXIT STATUS\n" + EntriesText(kExitCodes);
  text += ".SH ENVIRONMENT\n" + EntriesText(kVariableEntries);
  text += ".SH FILES\n.TP\n.I ~/.cache/hearth/hearth.db\n";
  text += Escaped("The cache, one sqlite file with its side files. Copy it with `hearth cache export`.\n");
  return text;
}

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
