// What every backend must do when its driver fails: the same tests over each API's table of functions.
#ifndef HEARTH_TESTS_FAULT_DRIVER_CALL_FAULTS_H_
#define HEARTH_TESTS_FAULT_DRIVER_CALL_FAULTS_H_

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "hearth/session.h"
#include "tests/fault/driver_calls.h"

namespace hearth::testing {

std::string FaultName(const ::testing::TestParamInfo<DriverFault>& info);

// Sessions on a software driver that says it is a discrete GPU, under `auto`, with the CPU behind it. The parameter is
// what fails.
class DriverCallFaults : public ::testing::TestWithParam<DriverFault> {
 protected:
  ~DriverCallFaults() override;
  // Skips where the backend's driver is not usable. Its table of functions must be filled with DriverCalls before.
  void Begin(const std::string& backend);

  // Calls `expect` with the numbers of those calls of a session that tests let fail.
  void AtEachPlace(const std::function<void(int call)>& expect);

  // A session and three runs, with the `call`th call failing.
  void ExpectTheRightAnswersElsewhere(int call);
  void ExpectAnErrorOrTheRightAnswers(int call);

 private:
  // The calls of a session's start and of three runs, where nothing fails.
  std::vector<std::string> CallsOfASession();
  // The first, the middle and the last call of each function, and 20 evenly over all.
  static std::vector<int> Places(const std::vector<std::string>& calls);
  Result<Session> Start(const std::string& device) const;
  // Of run `run`, counted from 1: state makes each another.
  static void ExpectAnswer(const Session& session, int run);

  std::string backend_;
};

// The tests of one API: a class of DriverCallFaults whose SetUp calls Begin.
#define HEARTH_DRIVER_CALL_TESTS(Suite)                                                                      \
  TEST_P(Suite, WhicheverCallFailsAutoGivesTheRightAnswersAndOneWarning) {                                   \
    AtEachPlace([this](int call) { ExpectTheRightAnswersElsewhere(call); });                                 \
  }                                                                                                          \
  TEST_P(Suite, WhicheverCallOfANamedDeviceFailsItIsAnErrorOrTheRightAnswers) {                              \
    AtEachPlace([this](int call) { ExpectAnErrorOrTheRightAnswers(call); });                                 \
  }                                                                                                          \
  INSTANTIATE_TEST_SUITE_P(                                                                                  \
      Faults, Suite,                                                                                         \
      ::testing::Values(::hearth::testing::DriverFault::kLost, ::hearth::testing::DriverFault::kOutOfMemory, \
                        ::hearth::testing::DriverFault::kRefused),                                           \
      ::hearth::testing::FaultName)

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_FAULT_DRIVER_CALL_FAULTS_H_
