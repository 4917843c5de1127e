#include "tools/hearth/layer_values.h"

#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "core/base/text.h"
#include "core/graph/evaluate.h"
#include "core/graph/graph_text.h"
#include "core/graph/op_text.h"
#include "core/graph/passes/pass.h"
#include "frontends/api/model_data.h"

namespace hearth {
namespace {

constexpr size_t kMostBytesAtOnce = size_t{256} << 20;  // layers' results, on each side

// A model of `graph` that borrows its constants from `source`, which outlives it.
Model ModelOf(Graph graph, const Model& source) {
  auto data = std::make_unique<ModelData>();
  data->path = source.path();
  data->bytes = source.data().bytes;
  const std::string text = source.fingerprint() + ToText(graph);
  data->KnowFingerprint(FingerprintOf(BytesOf(text)).ToHex());
  data->graph = std::move(graph);
  DescribeModel(*data);
  return Model(std::move(data));
}

struct LayerOutput {
  LayerInfo layer;
  ValueId value = kNoValue;
  size_t size_bytes = 0;
};

std::vector<LayerOutput> LayersOf(const Graph& graph) {
  std::vector<LayerOutput> layers;
  for (const Node& node : graph.nodes()) {
    for (const ValueId value : node.outputs) {
      const Value& made = graph.value(value);
      layers.push_back({{node.source_index, OpName(node.op), made.name}, value, made.desc.size_bytes()});
    }
  }
  return layers;
}

}  // namespace

Result<TensorBytes> RunOnDevice(const Model& model, const SessionOptions& options,
                                std::span<const std::vector<std::byte>> inputs) {
  SessionOptions ready = options;
  ready.start = "ready";  // the device's values are compared, not the CPU's
  HEARTH_ASSIGN(Session session, Session::Create(model, ready));
  for (size_t k = 0; k < inputs.size(); ++k) HEARTH_TRY(session.SetInput(k, inputs[k]));
  HEARTH_TRY(session.Run());
  TensorBytes outputs;
  for (size_t k = 0; k < session.outputs().size(); ++k) {
    const std::span<const std::byte> bytes = session.output(k);
    outputs.emplace_back(bytes.begin(), bytes.end());
  }
  return outputs;
}

Result<TensorBytes> RunReference(const Model& model, std::span<const std::vector<std::byte>> inputs) {
  const Graph& graph = model.data().graph;
  std::vector<ReferenceTensor> tensors;
  for (size_t k = 0; k < inputs.size(); ++k) {
    HEARTH_ASSIGN(ReferenceTensor tensor, ReferenceFromBytes(graph.value(graph.inputs[k]).desc, inputs[k]));
    tensors.push_back(std::move(tensor));
  }
  HEARTH_ASSIGN(const std::vector<ReferenceTensor> results, EvaluateGraph(graph, tensors));
  TensorBytes outputs;
  for (size_t k = 0; k < results.size(); ++k) {
    const TensorDesc& desc = graph.value(graph.outputs[k]).desc;
    outputs.emplace_back(desc.size_bytes());
    HEARTH_TRY(ReferenceToBytes(results[k], desc, outputs.back()));
  }
  return outputs;
}

Result<std::vector<LayerComparison>> CompareLayers(const Model& model, const DeviceInfo& device, const Side& ours,
                                                   const Side& theirs, double real_tolerance,
                                                   const std::function<void(size_t done, size_t total)>& progress) {
  Graph rewritten = model.data().graph.Clone();
  HEARTH_TRY(RunPasses(rewritten, device, {}));
  const std::vector<LayerOutput> layers = LayersOf(rewritten);
  std::vector<LayerComparison> compared;
  for (size_t first = 0; first < layers.size();) {
    progress(first, layers.size());
    Graph part = rewritten.Clone();
    part.outputs.clear();
    size_t last = first, bytes = 0;
    for (; last < layers.size() && (last == first || bytes + layers[last].size_bytes <= kMostBytesAtOnce); ++last) {
      part.outputs.push_back(layers[last].value);
      bytes += layers[last].size_bytes;
    }
    const Model marked = ModelOf(std::move(part), model);
    HEARTH_ASSIGN(const TensorBytes here, ours.run(marked));
    HEARTH_ASSIGN(const TensorBytes there, theirs.run(marked));
    for (size_t k = first; k < last; ++k) {
      HEARTH_ASSIGN(TensorComparison output,
                    CompareTensors(marked.outputs()[k - first], here[k - first], there[k - first], real_tolerance));
      compared.push_back({layers[k].layer, std::move(output)});
    }
    first = last;
  }
  progress(layers.size(), layers.size());
  return compared;
}

}  // namespace hearth
