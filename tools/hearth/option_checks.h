// Checks of option values before any work.
#ifndef HEARTH_TOOLS_HEARTH_OPTION_CHECKS_H_
#define HEARTH_TOOLS_HEARTH_OPTION_CHECKS_H_

#include <CLI/CLI.hpp>

namespace hearth {

// For names of files, folders and models: an empty one is a script's mistake (--json "$UNSET").
CLI::Validator NotEmpty(const std::string& what = "the name");

// A number that is neither NaN, which CLI::Range accepts, nor infinite.
CLI::Validator Finite();

// An unsigned 64-bit integer: CLI11 turns negative and larger numbers into the largest one.
CLI::Validator WholeNumber();

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_OPTION_CHECKS_H_
