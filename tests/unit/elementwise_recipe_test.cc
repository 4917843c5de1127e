// "Add an elementwise op" of core/README.md, step by step, for every operation that was added so.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "core/graph/evaluate.h"
#include "core/graph/op_text.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/lowering/lower.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/reader.h"
#include "tests/testing/graph_from_text.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

struct Row {
  std::string name;
  int operands = 1;
  ElementRule rule = ElementRule::kNumbers;
  bool on_reals = true, on_integers = false;
};

std::vector<Row> AllRows() {
  std::vector<Row> rows;
  for (const UnaryRow& row : UnaryRows()) {
    rows.push_back({std::string(row.name), 1, row.rule, !row.text.empty(), !row.integer_text.empty()});
  }
  for (const BinaryRow& row : BinaryRows()) {
    rows.push_back({std::string(row.name), 2, row.rule, !row.text.empty(), !row.integer_text.empty()});
  }
  return rows;
}

// One node of this operation on vectors of this type.
std::string TextOf(const Row& row, std::string_view type) {
  const std::string_view result = row.rule == ElementRule::kCompared ? "bool" : type;
  std::string text = fmt::format("graph \"one\"\n%0 = input : {0}[2x5] \"a\"\n%1 = input : {0}[5] \"b\"\n", type);
  text += fmt::format("%2 = {}({}) : {}[2x5] \"y\" node \"n\"\noutput %2\n", row.name,
                      row.operands == 1 ? "%0" : "%0, %1", result);
  return text;
}

std::vector<std::string_view> TypesOf(const Row& row) {
  if (row.rule == ElementRule::kLogical) return {"bool"};
  std::vector<std::string_view> types;
  if (row.on_reals) types.push_back("float32");
  if (row.on_integers) types.push_back("int32");
  return types;
}

DeviceInfo DialectDevice(Dialect dialect) {
  DeviceInfo info;
  info.backend = dialect == Dialect::kOpenCl ? "opencl" : dialect == Dialect::kGles ? "gles" : "vulkan";
  info.dialect = dialect;
  info.max_storage_buffers = 4;
  return info;
}

// Step 1, the enumerator and its row: the operation has a text form, infers, evaluates and runs on every device,
// through kernels that were there before.
TEST(ElementwiseRecipe, ARowIsAllThatCoreNeeds) {
  for (const Row& row : AllRows()) {
    ASSERT_FALSE(TypesOf(row).empty()) << row.name;
    for (std::string_view type : TypesOf(row)) {
      SCOPED_TRACE(fmt::format("{} of {}", row.name, type));
      Result<Graph> graph = GraphFromText(TextOf(row, type));
      ASSERT_TRUE(graph.ok()) << graph.status().message();
      const Status inferred = InferShapes(*graph);
      ASSERT_TRUE(inferred.ok()) << inferred.message();
      const ReferenceTensor a{{2, 5}, std::vector<double>(10, 1.0)}, b{{5}, std::vector<double>(5, 1.0)};
      EXPECT_TRUE(EvaluateGraph(*graph, std::array{a, b}).ok());
      for (Dialect dialect : {Dialect::kOpenCl, Dialect::kGles, Dialect::kVulkan}) {
        const Result<Plan> plan = Lower(*graph, DialectDevice(dialect), {});
        ASSERT_TRUE(plan.ok()) << plan.status().message();
        EXPECT_FALSE(plan->runs_on_cpu());
        ASSERT_EQ(plan->kernels.size(), 1u);
        EXPECT_EQ(plan->kernels[0].name, row.operands == 1 ? "map" : "binary");
      }
    }
  }
}

// Step 2, a row in the reader's operator table: a model file reaches the operation.
TEST(ElementwiseRecipe, ARowIsAllThatTheReaderNeeds) {
  std::set<std::string> reached = {"copy",         // made by passes
                                   "bitwise_and",  // what STABLEHLO_AND becomes
                                   "erf",          // of ONNX
                                   "gelu_tanh"};   // an option of GELU
  for (int code = 0; code < 210; ++code) {
    const OperatorRow* row = FindOperator(code);
    if (row == nullptr || row->read == nullptr || row->required_inputs > 2) continue;
    TfliteWriter writer;
    const int32_t x = writer.AddTensor({"x", {1, 4}}), y = writer.AddTensor({"y", {1, 4}});
    writer.AddOperator(code, std::vector<int32_t>(static_cast<size_t>(row->required_inputs), x), {y});
    const std::vector<std::byte> file = writer.Finish({x}, {y});
    const Result<Graph> graph = ReadTfliteModel(file);
    if (graph.ok() && graph->nodes().size() == 1) reached.insert(OpName(graph->nodes()[0].op));
  }
  for (const Row& row : AllRows()) EXPECT_TRUE(reached.contains(row.name)) << row.name;
}

}  // namespace
}  // namespace hearth
