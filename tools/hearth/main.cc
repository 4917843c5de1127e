// The program `hearth`: see tools/README.md for its verbs, options and JSON keys.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "hearth/version.h"
#include "tools/hearth/error_record.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

std::vector<std::unique_ptr<Verb>> AllVerbs() {
  std::vector<std::unique_ptr<Verb>> verbs;
  for (VerbMaker* make :
       {MakeDevicesCommand, MakeInspectCommand, MakeRunCommand, MakeBenchCommand, MakeCompareCommand, MakeCacheCommand,
        MakeConformanceCommand, MakeDiagnoseCommand, MakeEmitCommand, MakeManualCommand, MakeCompletionCommand})
    verbs.push_back(make());
  return verbs;
}

// The innermost subcommand on the command line, whose --help the message names.
CLI::App& NamedCommand(CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  return named.empty() ? app : NamedCommand(*named.front());
}

std::string FullName(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : FullName(*app.get_parent()) + " " + app.get_name();
}

// What other programs call it, in letters that are not near: empty if nothing is known.
std::string NameElsewhere(std::string_view word) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"-d", "--device"},
                                                                      {"-i", "--input"},
                                                                      {"-t", "--threads"},
                                                                      {"--num_threads", "--threads"},
                                                                      {"--num-threads", "--threads"},
                                                                      {"--num_runs", "--runs"},
                                                                      {"--num-runs", "--runs"},
                                                                      {"--iterations", "--runs"},
                                                                      {"--warmup_runs", "--warmup"},
                                                                      {"-m", "MODEL"},
                                                                      {"--model", "MODEL"},
                                                                      {"--graph", "MODEL"},
                                                                      {"benchmark", "bench"},
                                                                      {"info", "inspect"},
                                                                      {"list", "devices"},
                                                                      {"predict", "run"}};
  const auto found = std::ranges::find(kNames, word, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(kNames) ? "" : std::string(found->second);
}

// The likely meaning of an unknown word: a verb or option at most two letters away; empty if there is none.
std::string LikelyName(const CLI::App& app, const std::string& word) {
  const std::string elsewhere = NameElsewhere(word);
  const std::vector<const CLI::App*> verbs = app.get_subcommands([](const CLI::App*) { return true; });
  const bool is_verb = std::ranges::any_of(verbs, [&](const CLI::App* verb) { return verb->get_name() == elsewhere; });
  if (!elsewhere.empty() && (elsewhere == "MODEL" || is_verb || app.get_option_no_throw(elsewhere) != nullptr))
    return elsewhere;
  const bool is_model = word.ends_with(".tflite") || word.ends_with(".onnx");
  if (is_model && app.get_parent() == nullptr) return "run " + word;
  std::vector<std::string> names;
  if (word.starts_with("-")) {
    for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* verb : verbs) names.push_back(verb->get_name());
  }
  return NearestName(word, names);
}

// The options that --help explains where there are many.
constexpr std::string_view kUsualOptions[] = {"help",     "help-all", "device", "precision", "threads", "cache",
                                              "no-cache", "shape",    "input",  "labels",    "top",     "picture",
                                              "runs",     "profile",  "layers", "against",   "json"};

// Names the other options in the footer, which stands before the example; --help-all explains them.
void HideUnusualOptions(CLI::App& verb) {
  constexpr size_t kMostExplained = 16, kMostColumns = 80;
  const std::vector<CLI::Option*> options = verb.get_options([](const CLI::Option* o) { return o->nonpositional(); });
  if (options.size() <= kMostExplained) {
    if (CLI::Option* all = verb.get_option_no_throw("--help-all"); all != nullptr) all->group("");
    return;
  }
  std::string names, line = " ";
  for (CLI::Option* option : options) {
    const std::vector<std::string>& long_names = option->get_lnames();
    if (long_names.empty() || std::ranges::find(kUsualOptions, long_names[0]) != std::end(kUsualOptions)) continue;
    option->group("");
    if (line.size() + long_names[0].size() + 3 > kMostColumns) names += std::exchange(line, " ") + "\n";
    line += " --" + long_names[0];
  }
  verb.footer(fmt::format("More options, which `{} --help-all` explains:\n{}{}\n\n{}", FullName(verb), names, line,
                          verb.get_footer()));
}

ExitCode OnParseError(CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {  // --help and --version
    if (dynamic_cast<const CLI::CallForHelp*>(&error) != nullptr) HideUnusualOptions(NamedCommand(app));
    app.exit(error);
    return ExitCode::kFine;
  }
  const CLI::App& named = NamedCommand(app);
  const std::vector<std::string> unknown = app.remaining(true);
  const bool is_unknown = !unknown.empty() && (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                                               dynamic_cast<const CLI::RequiredError*>(&error) != nullptr);
  std::string what = error.what();
  if (is_unknown) {
    what = fmt::format("'{}' is not known here", unknown.front());
    const std::string meant = LikelyName(named, unknown.front().substr(0, unknown.front().find('=')));
    if (meant == unknown.front().substr(0, unknown.front().find('='))) {
      what = fmt::format("'{}' stands before the verb; write it behind it", meant);
    } else if (!meant.empty()) {
      what += fmt::format("; did you mean '{}'?", meant);
    } else if (unknown.front().starts_with("--since") && named.get_name() == "export") {
      what += ": bundles have no deltas; `zstd --patch-from=OLD.tar NEW.tar` makes smaller ones";
    }
  }
  PrintError(fmt::format("{}: {}; `{} --help` shows what there is", FullName(named), what, FullName(named)));
  return ExitCode::kUsage;
}

// An empty value comes from a script's unset variable (--json "$UNSET"). Without a check `cache clear --model ""` would
// delete everything, and `cache export --sign ""` would not sign.
void RefuseEmptyValues(CLI::App& app) {
  const CLI::Validator is_given([](std::string& text) { return text.empty() ? "the value is empty" : ""; }, "");
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    if (option->get_items_expected_max() > 0) option->check(is_given);
  }
  for (CLI::App* part : app.get_subcommands([](const CLI::App*) { return true; })) RefuseEmptyValues(*part);
}

// "--cache=" with nothing behind it, as from an unset variable, would take the next word as its value. Empty if there
// is none.
std::string OptionWithoutValue(std::span<char*> arguments) {
  for (const std::string_view argument : arguments) {
    if (argument == "--") break;
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) return std::string(argument);
  }
  return "";
}

// Without the program's name. `hearth help run` is `hearth run --help`, `hearth version` is `hearth --version`, and
// --json without FILE, at the end or before an option, means standard output.
std::vector<std::string> ArgumentsOf(std::span<char*> words) {
  std::vector<std::string> arguments(words.begin() + std::min<size_t>(words.size(), 1), words.end());
  for (size_t k = 0; k < arguments.size(); ++k) {
    const bool has_file = k + 1 < arguments.size() && (arguments[k + 1] == "-" || !arguments[k + 1].starts_with("-"));
    if (arguments[k] == "--json" && !has_file) arguments[k] = "--json=-";
  }
  if (arguments.size() == 1 && arguments[0] == "version") return {"--version"};
  if (arguments.empty() || arguments[0] != "help") return arguments;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
  return arguments;
}

// A file opened while a standard stream is closed would get its number, and then output of the program and drivers.
void HoldStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Opened read-only, so that lost output is still an error.
    if (::fcntl(stream, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDONLY));
  }
}

// Lost output, as on a full disk, is a failure.
ExitCode CheckOutput(ExitCode code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  PrintError("standard output could not be written");
  return code == ExitCode::kFine ? ExitCode::kFailed : code;
}

ExitCode Main(int argc, char** argv) {
  LogAsTheEnvironmentSays();
  CLI::App app("Runs neural networks on the compute drivers of this machine.", "hearth");
  app.set_version_flag("--version", HEARTH_VERSION);
  app.footer("Example:\n  hearth run model.tflite --input photo.jpg --top 3\n`hearth VERB --help` explains each verb.");
  const std::vector<std::unique_ptr<Verb>> verbs = AllVerbs();
  for (const auto& verb : verbs) {
    CLI::App* subcommand = app.add_subcommand(verb->info().name, verb->info().description);
    subcommand->footer("Example:\n  " + verb->info().example);
    subcommand->set_help_all_flag("--help-all", "Explain all options and exit");
    verb->AddOptions(*subcommand);
    RefuseEmptyValues(*subcommand);
  }
  if (const std::string option = OptionWithoutValue({argv, static_cast<size_t>(argc)}); !option.empty()) {
    PrintError(fmt::format("hearth: '{}' has no value behind its '='", option));
    return ExitCode::kUsage;
  }
  const std::vector<std::string> arguments = ArgumentsOf({argv, static_cast<size_t>(argc)});
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the end
  } catch (const CLI::ParseError& error) {
    return OnParseError(app, error);
  }
  if (app.get_subcommands().empty()) {
    const std::string help = app.help();
    std::fwrite(help.data(), 1, help.size(), stdout);
    return ExitCode::kUsage;
  }
  for (const auto& verb : verbs) {
    if (!app.got_subcommand(verb->info().name)) continue;
    const Result<ExitCode> code = verb->Run();
    if (code.ok()) {
      if (code.value() == ExitCode::kInterrupted) PrintError("stopped by ^C: what was not begun before is missing");
      return code.value();
    }
    PrintError(code.status().message());
    const ExitCode exit_code = ExitCodeOf(code.status().code());
    RecordError(verb->info().name, static_cast<int>(exit_code), code.status().message());
    return exit_code;
  }
  return ExitCode::kUsage;
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  using namespace hearth;
  HoldStandardStreams();
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit becomes an error message; drivers write files too
  try {
    return static_cast<int>(CheckOutput(Main(argc, argv)));
  } catch (const std::bad_alloc&) {
    PrintError("memory ran out: the model and its inputs need more than this process may have");
    return static_cast<int>(ExitCode::kFailed);
  } catch (const std::exception& error) {
    PrintError(error.what());
    return static_cast<int>(ExitCode::kFailed);
  }
}
