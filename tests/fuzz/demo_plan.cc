#include "tests/fuzz/demo_plan.h"

#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "core/lowering/lower.h"
#include "frontends/tflite/reader.h"
#include "runtime/model/model_file.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/testing/shared_data.h"

namespace hearth {

DemoPlan::DemoPlan(const DeviceInfo& device) {
  const Result<ModelFile> file = ModelFile::Open((SourceFolder() / "tools/demo/shapes_f32.tflite").string());
  Expect(file.ok(), "the demo model can be opened");
  model_.assign(file->bytes().begin(), file->bytes().end());
  Result<Graph> graph = ReadTfliteModel(model_);
  Expect(graph.ok(), "the demo model can be read");
  graph_ = std::move(graph).value();
  Graph rewritten = graph_.Clone();
  Expect(InferShapes(rewritten).ok() && RunPasses(rewritten, device, {}).ok(), "the passes take the demo model");
  Result<Plan> plan = Lower(rewritten, device, {});
  Expect(plan.ok(), "the demo model can be lowered");
  plan_ = std::move(plan).value();
}

}  // namespace hearth
