// The program `hearth`: see tools/README.md for its verbs, options and JSON keys.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "hearth/version.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

std::vector<std::unique_ptr<Verb>> AllVerbs() {
  std::vector<std::unique_ptr<Verb>> verbs;
  verbs.push_back(MakeDevicesCommand());
  verbs.push_back(MakeInspectCommand());
  verbs.push_back(MakeRunCommand());
  verbs.push_back(MakeBenchCommand());
  verbs.push_back(MakeCacheCommand());
  verbs.push_back(MakeConformanceCommand());
  verbs.push_back(MakeEmitCommand());
  verbs.push_back(MakeManualCommand());
  verbs.push_back(MakeCompletionCommand());
  return verbs;
}

// The innermost subcommand that was named: where the mistake is, and whose --help is worth pointing to.
const CLI::App& NamedCommand(const CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  return named.empty() ? app : NamedCommand(*named.front());
}

std::string FullName(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : FullName(*app.get_parent()) + " " + app.get_name();
}

ExitCode OnParseError(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {  // --help and --version
    app.exit(error);
    return ExitCode::kFine;
  }
  const CLI::App& named = NamedCommand(app);
  const std::vector<std::string> unknown = app.remaining(true);
  const bool is_unknown = !unknown.empty() && (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                                               dynamic_cast<const CLI::RequiredError*>(&error) != nullptr);
  const std::string what =
      is_unknown ? fmt::format("'{}' is not known here", unknown.front()) : std::string(error.what());
  PrintError(fmt::format("{}: {}; `{} --help` shows what there is", FullName(named), what, FullName(named)));
  return ExitCode::kUsage;
}

// A full disk behind standard output is a failure like any other.
ExitCode CheckOutput(ExitCode code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  PrintError("standard output could not be written");
  return code == ExitCode::kFine ? ExitCode::kFailed : code;
}

ExitCode Main(int argc, char** argv) {
  CLI::App app("Runs neural networks on the compute drivers of this machine.", "hearth");
  app.set_version_flag("--version", HEARTH_VERSION);
  app.require_subcommand(1);
  app.footer("Example:\n  hearth run model.tflite --input photo.jpg --top 3\n`hearth VERB --help` explains each verb.");
  const std::vector<std::unique_ptr<Verb>> verbs = AllVerbs();
  for (const auto& verb : verbs) {
    CLI::App* subcommand = app.add_subcommand(verb->info().name, verb->info().description);
    subcommand->footer("Example:\n  " + verb->info().example);
    verb->AddOptions(*subcommand);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return OnParseError(app, error);
  }
  for (const auto& verb : verbs) {
    if (!app.got_subcommand(verb->info().name)) continue;
    const Result<ExitCode> code = verb->Run();
    if (code.ok()) return code.value();
    PrintError(code.status().message());
    return ExitCodeOf(code.status().code());
  }
  return ExitCode::kUsage;
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  using namespace hearth;
  try {
    return static_cast<int>(CheckOutput(Main(argc, argv)));
  } catch (const std::exception& error) {  // the standard library's: out of memory, as a rule
    PrintError(error.what());
    return static_cast<int>(ExitCode::kFailed);
  }
}
