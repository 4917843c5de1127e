// What tests/oracle has models of.
#include <gtest/gtest.h>

#include <set>

#include "frontends/tflite/operator_table.h"
#include "tests/testing/oracle_models.h"

namespace hearth {
namespace {

// The interpreter has no kernels for the first three; the others call subgraphs, hold variables or are known before any
// run, and are no models of one operator. tests/unit/tflite_*_test.cc have their numbers.
const std::set<std::string> kUnanswered = {"STABLEHLO_CONVOLUTION",
                                           "STABLEHLO_COMPARE",
                                           "STABLEHLO_SORT",
                                           "STABLEHLO_COMPOSITE",
                                           "STABLEHLO_CASE",  //
                                           "CALL",
                                           "CALL_ONCE",
                                           "VAR_HANDLE",
                                           "READ_VARIABLE",
                                           "ASSIGN_VARIABLE",
                                           "RANGE",
                                           "BROADCAST_ARGS"};

TEST(OracleCoverage, EveryOperatorThatIsReadHasAModelThatTheInterpreterAnswers) {
  std::set<std::string> shown;
  for (const OracleModel& model : ListOracleModels()) shown.insert(model.op);
  for (int32_t code = 0; const OperatorRow* row = FindOperator(code); ++code) {
    const bool is_read = row->read != nullptr || row->expand != nullptr;
    if (!is_read || kUnanswered.contains(std::string(row->name))) continue;
    EXPECT_TRUE(shown.contains(std::string(row->name))) << row->name << ": add a model to tests/oracle/cases_*.py";
  }
}

}  // namespace
}  // namespace hearth
