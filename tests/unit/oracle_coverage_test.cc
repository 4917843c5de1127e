// What tests/oracle has models of.
#include <gtest/gtest.h>

#include <set>

#include "frontends/tflite/operator_table.h"
#include "tests/testing/oracle_models.h"

namespace hearth {
namespace {

// The interpreter has no kernels for these: tests/unit/tflite_hlo_test.cc has their numbers.
const std::set<std::string> kUnanswered = {"STABLEHLO_CONVOLUTION", "STABLEHLO_COMPARE", "STABLEHLO_SORT"};

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
