// Models of one or two operations, made by the graph builder.
#ifndef HEARTH_TESTS_TESTING_BUILT_MODELS_H_
#define HEARTH_TESTS_TESTING_BUILT_MODELS_H_

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "hearth/graph_builder.h"

namespace hearth::testing {

inline Model ModelOf(GraphBuilder builder) {
  Result<Model> model = std::move(builder).Build();
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(model).value();
}

// y = -x
inline Model NegationModel(std::vector<int32_t> shape) {
  GraphBuilder builder("negation");
  builder.Output(builder.Unary("neg", builder.Input("x", std::move(shape))), "y");
  return ModelOf(std::move(builder));
}

// y = x + the sum of all earlier x, of eight elements.
inline Model SumModel() {
  GraphBuilder builder("sum");
  const auto x = builder.Input("x", {1, 1, 2, 4});
  const auto sum = builder.State("sum", {1, 1, 2, 4});
  const auto next = builder.Binary("add", sum, x);
  builder.Update(sum, next);
  builder.Output(next, "y");
  return ModelOf(std::move(builder));
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_BUILT_MODELS_H_
