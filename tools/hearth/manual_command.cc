// `hearth manual` and `hearth completion`: texts made from the verbs' declarations.
#include "hearth/version.h"
#include "tools/hearth/command_tree.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

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
