// An environment variable that a test sets, or takes away, and puts back at its end.
#ifndef HEARTH_TESTS_TESTING_SET_VARIABLE_H_
#define HEARTH_TESTS_TESTING_SET_VARIABLE_H_

#include <cstdlib>
#include <optional>
#include <string>

#include "core/base/environment.h"

namespace hearth::testing {

class SetVariableTo {
 public:
  SetVariableTo(const std::string& name, const std::optional<std::string>& value)
      : name_(name), before_(VariableIfSet(name.c_str())) {
    Put(value);
  }
  ~SetVariableTo() { Put(before_); }
  SetVariableTo(const SetVariableTo&) = delete;
  SetVariableTo& operator=(const SetVariableTo&) = delete;

 private:
  void Put(const std::optional<std::string>& value) const {
    if (value.has_value()) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_SET_VARIABLE_H_
