// A verb of the program: `hearth run`, `hearth cache`, ...
//
// main.cc holds the list of verbs, makes each one, lets it add its options to its own subcommand, parses the
// command line, and calls Run of the verb that was named.
#ifndef HEARTH_TOOLS_HEARTH_VERB_H_
#define HEARTH_TOOLS_HEARTH_VERB_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "hearth/status.h"
#include "tools/hearth/exit_code.h"

namespace hearth {

// The texts about a verb in `--help`.
struct VerbInfo {
  std::string name;         // "run"
  std::string description;  // one line
  std::string example;      // a command line that works
};

class Verb {
 public:
  explicit Verb(VerbInfo info) : info_(std::move(info)) {}
  virtual ~Verb() = default;
  const VerbInfo& info() const { return info_; }

  // Declares options and arguments, bound to members of the verb. Called once, before the command line is parsed.
  virtual void AddOptions(CLI::App& app) = 0;

  // Does the work: writes data to standard output, warnings by PrintWarning. main prints an error and converts it by
  // ExitCodeOf. A verb returns kFailed or kUsage itself.
  virtual Result<ExitCode> Run() = 0;

 private:
  VerbInfo info_;
};

// One function per <name>_command.cc.
std::unique_ptr<Verb> MakeBenchCommand();
std::unique_ptr<Verb> MakeCacheCommand();
std::unique_ptr<Verb> MakeCompareCommand();
std::unique_ptr<Verb> MakeCompletionCommand();
std::unique_ptr<Verb> MakeConformanceCommand();
std::unique_ptr<Verb> MakeDevicesCommand();
std::unique_ptr<Verb> MakeDiagnoseCommand();
std::unique_ptr<Verb> MakeEmitCommand();
std::unique_ptr<Verb> MakeInspectCommand();
std::unique_ptr<Verb> MakeManualCommand();
std::unique_ptr<Verb> MakeRunCommand();

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_VERB_H_
