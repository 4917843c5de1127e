// What values of options must be, told before any work.
#ifndef HEARTH_TOOLS_HEARTH_OPTION_CHECKS_H_
#define HEARTH_TOOLS_HEARTH_OPTION_CHECKS_H_

#include <CLI/CLI.hpp>

namespace hearth {

// For names of files, folders and models: an empty one is a script's mistake (--json "$UNSET").
CLI::Validator NotEmpty(const std::string& what = "the name");

// For numbers: neither NaN, which every CLI::Range lets pass, nor infinite.
CLI::Validator Finite();

// A whole number of 64 bits without a sign: CLI11 makes the largest one of all that are negative or larger.
CLI::Validator WholeNumber();

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_OPTION_CHECKS_H_
