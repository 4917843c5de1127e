// What a model's outputs are taken for, without a model: heads with given numbers beside a picture.
#ifndef HEARTH_TESTS_TESTING_SEEN_HEADS_H_
#define HEARTH_TESTS_TESTING_SEEN_HEADS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/results.h"
#include "tests/testing/built_models.h"

namespace hearth::testing {

struct Head {
  std::vector<int32_t> shape;
  std::vector<float> values;
  std::string name = "head";
};

// Takes a picture, and gives the heads as they are. `metadata`: what the file would say.
inline Result<std::vector<Interpretation>> Seen(int height, int width, const std::vector<Head>& heads,
                                                InterpretOptions options = {}, const ModelMetadata& metadata = {}) {
  GraphBuilder builder("heads");
  builder.Input("picture", {1, height, width, 3});
  for (size_t k = 0; k < heads.size(); ++k)
    builder.Output(builder.Unary("copy", builder.Input("in" + std::to_string(k), heads[k].shape)), heads[k].name);
  const Model model = ModelOf(std::move(builder));
  SessionOptions session_options;
  session_options.device = "cpu";
  session_options.use_cache = false;
  auto session = Session::Create(model, session_options);
  EXPECT_TRUE(session.ok()) << session.status().message();
  const std::vector<float> picture(static_cast<size_t>(height) * static_cast<size_t>(width) * 3);
  EXPECT_TRUE(session->SetInput<float>(0, picture).ok());
  for (size_t k = 0; k < heads.size(); ++k) EXPECT_TRUE(session->SetInput<float>(k + 1, heads[k].values).ok());
  const Status ran = session->Run();
  EXPECT_TRUE(ran.ok()) << ran.message();
  const auto interpreter = Interpreter::Create(session->model(), metadata, std::move(options), "meaning");
  if (!interpreter.ok()) return interpreter.status();
  return interpreter->Interpret(*session);
}

inline InterpretOptions ShownAs(Meaning meaning, std::optional<Layout> layout = {}) {
  InterpretOptions options;
  options.meaning = meaning;
  options.layout = layout;
  return options;
}

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_SEEN_HEADS_H_
