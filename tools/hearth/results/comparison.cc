#include "tools/hearth/results/comparison.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "core/base/text.h"
#include "core/graph/element.h"
#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "core/graph/op_text.h"
#include "core/graph/passes/pass.h"
#include "core/graph/quantize.h"
#include "core/lowering/lower.h"
#include "runtime/devices/device_choice.h"
#include "runtime/devices/priorities.h"
#include "runtime/model/model_data.h"
#include "runtime/results/decoding.h"

namespace hearth {
namespace {

constexpr double kQuantizedSteps = 2, kQuantizedShareOver = 0.01, kWholeShareOver = 0.02;

double DifferenceOf(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double difference = std::fabs(a - b);
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

double LargestFinite(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  return largest;
}

void SetAllowed(std::span<const double> theirs, double real_tolerance, TensorComparison& result) {
  const std::string& dtype = result.info.dtype;
  if (dtype == "float32" || dtype == "float16" || dtype == "float64") {
    result.allowed_difference = real_tolerance * std::max(1.0, LargestFinite(theirs));
  } else if (!result.info.scales.empty()) {
    const float step = *std::max_element(result.info.scales.begin(), result.info.scales.end());
    // A tensor with several scales is compared in steps: it was not dequantized.
    result.allowed_difference = kQuantizedSteps * (result.info.scales.size() == 1 ? static_cast<double>(step) : 1.0);
    result.allowed_difference *= 1 + 1e-6;  // for the roundings of dequantizing
    result.allowed_share_over = kQuantizedShareOver;
  } else {
    result.allowed_share_over = kWholeShareOver;
  }
}

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

void AddLayer(const Graph& graph, const Node& node, ValueId output, std::vector<LayerOutput>& layers) {
  const Value& made = graph.value(output);
  layers.push_back({{node.source_index, OpName(node.op), made.name}, output, made.desc.size_bytes()});
}

std::vector<LayerOutput> LayersOf(const Graph& graph) {
  std::vector<LayerOutput> layers;
  for (const Node& node : graph.nodes()) {
    for (const ValueId output : node.outputs) AddLayer(graph, node, output, layers);
  }
  return layers;
}

// Calls use(model, first, last) for parts of `layers` that fit memory: a copy of `graph`'s network has the layers from
// `first` up to `last` as its outputs.
template <typename Use>
Status ForEachPart(const Graph& graph, const Model& source, const std::vector<LayerOutput>& layers, Use use) {
  for (size_t first = 0; first < layers.size();) {
    Graph part = graph.Clone();
    part.outputs.clear();
    size_t last = first, bytes = 0;
    for (; last < layers.size() && (last == first || bytes + layers[last].size_bytes <= kMostBytesAtOnce); ++last) {
      part.outputs.push_back(layers[last].value);
      bytes += layers[last].size_bytes;
    }
    HEARTH_TRY(use(ModelOf(std::move(part), source), first, last));
    first = last;
  }
  return Status::Ok();
}

// The plan's label of node `index`, and nothing else.
std::string MarkOf(size_t index) {
  return fmt::format("#{}#", index);
}

// The layers whose results the plan stores in 16 bits. Nodes are given names that the plan's labels then tell: the last
// node of a dispatch is the one that is stored.
Result<std::vector<LayerOutput>> LayersStoredInHalf(const Graph& graph, const DeviceInfo& device,
                                                    const LowerOptions& options, Plan& plan) {
  Graph marked = graph.Clone();
  for (size_t k = 0; k < marked.nodes().size(); ++k) marked.nodes()[k].name = MarkOf(k);
  HEARTH_ASSIGN(plan, Lower(marked, device, options));
  std::set<std::string> stored;
  for (const Dispatch& dispatch : plan.dispatches) {
    const bool stores_half = std::ranges::any_of(plan.kernels[dispatch.kernel].tensors, [](const TensorArg& arg) {
      return arg.direction == ArgDirection::kWrite && arg.storage == StorageType::kFloat16;
    });
    const std::string_view label = dispatch.label;
    const size_t end = label.rfind('#'), begin = end == 0 || end == label.npos ? label.npos : label.rfind('#', end - 1);
    if (stores_half && begin != label.npos) stored.emplace(label.substr(begin, end + 1 - begin));
  }
  std::vector<LayerOutput> layers;
  for (size_t k = 0; k < graph.nodes().size(); ++k) {
    if (!stored.contains(MarkOf(k))) continue;
    const Node& node = graph.nodes()[k];
    for (const ValueId output : node.outputs)
      if (IsPlainFloat32(graph.value(output).desc)) AddLayer(graph, node, output, layers);
  }
  return layers;
}

constexpr float kLargestFloat16 = 65504;

bool IsLargest(float magnitude) {
  return magnitude == kLargestFloat16;
}

bool IsBeyond(float magnitude) {
  return magnitude > kLargestFloat16 && std::isfinite(magnitude);
}

size_t CountFloats(std::span<const std::byte> bytes, bool (*is_counted)(float magnitude)) {
  size_t count = 0;
  for (size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float))
    count += is_counted(std::fabs(LoadAt<float>(bytes.data(), static_cast<int64_t>(at / sizeof(float))))) ? 1 : 0;
  return count;
}

}  // namespace

double TensorComparison::ratio() const {
  const double share = share_over();
  if (allowed_share_over > 0) return share / allowed_share_over;
  return allowed_difference > 0 ? max_difference / allowed_difference : 0;
}

double TensorComparison::share_over() const {
  return element_count == 0 ? 0 : static_cast<double>(elements_over) / static_cast<double>(element_count);
}

double RealTolerance(const std::string& precision) {
  return precision == "fp32" ? 1e-4 : 2e-2;
}

Result<TensorComparison> CompareTensors(const TensorInfo& info, std::span<const std::byte> ours,
                                        std::span<const std::byte> theirs, double real_tolerance) {
  HEARTH_ASSIGN(const std::vector<double> a, OutputAsReals(info, ours));
  HEARTH_ASSIGN(const std::vector<double> b, OutputAsReals(info, theirs));
  if (a.size() != b.size()) {
    return Error(StatusCode::kInternal, "'{}' has {} elements here and {} there", info.name, a.size(), b.size());
  }
  TensorComparison result;
  result.info = info;
  result.element_count = a.size();
  SetAllowed(b, real_tolerance, result);
  for (size_t k = 0; k < a.size(); ++k) {
    const double difference = DifferenceOf(a[k], b[k]);
    result.mean_difference += difference / static_cast<double>(a.size());
    result.elements_over += difference > result.allowed_difference ? 1 : 0;
    if (difference <= result.max_difference && k > 0) continue;
    result.max_difference = difference;
    result.worst = k;
    result.ours = a[k];
    result.theirs = b[k];
  }
  result.is_over = result.share_over() > result.allowed_share_over;
  return result;
}

std::string PlaceText(const TensorInfo& info, size_t element) {
  std::vector<size_t> place(info.shape.size());
  for (size_t d = place.size(); d-- > 0;) {
    const auto size = static_cast<size_t>(std::max(1, info.shape[d]));
    place[d] = element % size;
    element /= size;
  }
  return fmt::format("[{}]", fmt::join(place, ","));
}

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
  HEARTH_TRY(ForEachPart(rewritten, model, layers, [&](const Model& marked, size_t first, size_t last) -> Status {
    progress(first, layers.size());
    HEARTH_ASSIGN(const TensorBytes here, ours.run(marked));
    HEARTH_ASSIGN(const TensorBytes there, theirs.run(marked));
    for (size_t k = first; k < last; ++k) {
      HEARTH_ASSIGN(TensorComparison output,
                    CompareTensors(marked.outputs()[k - first], here[k - first], there[k - first], real_tolerance));
      compared.push_back({layers[k].layer, std::move(output)});
    }
    return Status::Ok();
  }));
  progress(layers.size(), layers.size());
  return compared;
}

Result<std::vector<ClampedLayer>> FindClamped(const Model& model, const SessionOptions& options,
                                              std::span<const std::vector<std::byte>> inputs) {
  SessionOptions own = options;
  own.use_cache = false;
  HEARTH_ASSIGN(const LowerOptions lowering,
                OptionsFromChoices({options.precision, options.preference, options.priority}));
  if (lowering.precision == Precision::kFp32) return std::vector<ClampedLayer>();
  HEARTH_ASSIGN(const OpenedDevice opened, OpenDeviceAs(options.device, options.simulate));
  Graph rewritten = model.data().graph.Clone();
  HEARTH_TRY(RunPasses(rewritten, opened.info, {}));
  Plan plan;
  HEARTH_ASSIGN(const std::vector<LayerOutput> layers, LayersStoredInHalf(rewritten, opened.info, lowering, plan));
  std::vector<ClampedLayer> clamped;
  const auto note = [&](const LayerInfo& layer, size_t count, size_t bytes) {
    if (count > 0) clamped.push_back({layer, count, bytes / sizeof(float)});
  };
  for (size_t k = 0; k < plan.inputs.size(); ++k) {
    const PlanTensor& input = plan.inputs[k];
    if (!input.on_device || input.transfer.storage != StorageType::kFloat16 || !IsPlainFloat32(input.desc)) continue;
    note({-1, "input", input.name}, CountFloats(inputs[k], IsBeyond), inputs[k].size());
  }
  for (const Node& node : rewritten.nodes()) {
    if (!OpDefOf(node.op).Has(kTakesStoredConstants)) continue;
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || !rewritten.IsConstant(id) || !IsFloat(rewritten.value(id).desc.dtype)) continue;
      HEARTH_ASSIGN(const std::vector<float> numbers, ConstantAsFloats(rewritten, id));
      const auto bytes = std::as_bytes(std::span(numbers));
      note({node.source_index, OpName(node.op), rewritten.value(id).name}, CountFloats(bytes, IsBeyond), bytes.size());
    }
  }
  HEARTH_TRY(ForEachPart(rewritten, model, layers, [&](const Model& part, size_t first, size_t last) -> Status {
    HEARTH_ASSIGN(const TensorBytes results, RunOnDevice(part, own, inputs));
    for (size_t k = first; k < last; ++k)
      note(layers[k].layer, CountFloats(results[k - first], IsLargest), results[k - first].size());
    return Status::Ok();
  }));
  return clamped;
}

std::string TextOf(const std::vector<ClampedLayer>& clamped) {
  std::string text;
  for (const ClampedLayer& row : clamped) {
    const std::string where = row.layer.index < 0 ? "" : fmt::format("op {} ", row.layer.index);
    text += fmt::format("range: {}({}) '{}': {} of {} numbers exceed 16 bits and are stored as 65504\n", where,
                        row.layer.op, row.layer.name.substr(0, row.layer.name.find(';')), row.clamped, row.elements);
  }
  return text;
}

Json JsonOf(const std::vector<ClampedLayer>& clamped) {
  Json json = Json::array();
  for (const ClampedLayer& row : clamped) {
    json.push_back({{"index", row.layer.index},
                    {"op", row.layer.op},
                    {"name", row.layer.name},
                    {"clamped", row.clamped},
                    {"elements", row.elements}});
  }
  return json;
}

}  // namespace hearth
