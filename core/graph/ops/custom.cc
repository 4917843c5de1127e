#include "core/graph/ops/custom.h"

#include <algorithm>
#include <exception>

#include "core/base/error.h"
#include "core/graph/custom_node.h"
#include "core/graph/op_text.h"
#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {
namespace {

static_assert(HEARTH_OPS_MAX_RANK == Shape::kMaxRank);

// A call's argument, with what its pointers refer to. Borrows graph and node.
class CustomCall {
 public:
  CustomCall(const Graph& graph, const Node& node)
      : custom_(*std::get<Custom>(node.op).node),
        label_(NodeLabel(node)),
        inputs_(node.inputs.size()),
        outputs_(node.outputs.size()),
        texts_(custom_.attributes.size()),
        attributes_(custom_.attributes.size()) {
    for (size_t k = 0; k < inputs_.size(); ++k) Describe(graph, node.inputs[k], inputs_[k]);
    for (size_t k = 0; k < outputs_.size(); ++k) Describe(graph, node.outputs[k], outputs_[k]);
    for (size_t k = 0; k < attributes_.size(); ++k) {
      const CustomAttribute& attribute = custom_.attributes[k];
      texts_[k].resize(attribute.texts.size());
      for (size_t i = 0; i < texts_[k].size(); ++i)
        texts_[k][i] = {attribute.texts[i].c_str(), attribute.texts[i].size()};
      attributes_[k] = {attribute.name.c_str(), attribute.is_list ? 1 : 0, attribute.ints.size(),
                        attribute.ints.data(),  attribute.floats.size(),   attribute.floats.data(),
                        texts_[k].size(),       texts_[k].data()};
    }
  }

  std::vector<hearth_op_tensor>& inputs() { return inputs_; }
  std::vector<hearth_op_tensor>& outputs() { return outputs_; }

  Status Make(Status (CustomOperator::*function)(const hearth_op_call& call) const) {
    const hearth_op_call call = {sizeof(hearth_op_call),
                                 nullptr,
                                 custom_.op.name.c_str(),
                                 label_.c_str(),
                                 custom_.options.data(),
                                 custom_.options.size(),
                                 attributes_.data(),
                                 attributes_.size(),
                                 inputs_.data(),
                                 inputs_.size(),
                                 outputs_.data(),
                                 outputs_.size(),
                                 nullptr,
                                 0};
    try {
      const Status status = (*custom_.op.functions.*function)(call);
      return status.ok() ? status : Failed(status.code(), status.message());
    } catch (const std::exception& exception) {
      return Failed(StatusCode::kInvalidArgument, exception.what());
    } catch (...) {
      return Failed(StatusCode::kInvalidArgument, "it threw something that is no std::exception");
    }
  }

  // The device and what is stored are not to blame, whatever code the operator chose.
  Status Failed(StatusCode code, std::string_view why) const {
    const bool blames_others = code == StatusCode::kUnavailable || code == StatusCode::kDeviceLost ||
                               code == StatusCode::kResourceExhausted || code == StatusCode::kInternal;
    return Error(blames_others ? StatusCode::kInvalidArgument : code, "{}: the program's operator '{}' failed: {}",
                 label_, custom_.op.name, why);
  }

 private:
  // `tensor` holds zeros.
  static void Describe(const Graph& graph, ValueId value, hearth_op_tensor& tensor) {
    if (value == kNoValue) return;
    const TensorDesc& desc = graph.value(value).desc;
    tensor.dtype = DTypeName(desc.dtype).data();  // a literal
    tensor.rank = desc.shape.rank();
    std::ranges::copy(desc.shape.dims(), tensor.shape);
    tensor.size_bytes = desc.size_bytes();
    if (graph.IsConstant(value)) tensor.data = const_cast<std::byte*>(graph.ConstantBytes(value).data());
    if (!desc.quantization) return;
    tensor.scales = desc.quantization->scales.data();
    tensor.scale_count = desc.quantization->scales.size();
    tensor.zero_points = desc.quantization->zero_points.data();
    tensor.zero_point_count = desc.quantization->zero_points.size();
    tensor.scale_dimension = desc.quantization->dimension;
  }

  const CustomNode& custom_;
  const std::string label_;
  std::vector<hearth_op_tensor> inputs_, outputs_;
  std::vector<std::vector<hearth_op_text>> texts_;
  std::vector<hearth_op_attribute> attributes_;
};

}  // namespace

Status InferCustom(const NodeInference& inference) {
  const Node& node = inference.node();
  HEARTH_TRY(inference.CheckOperands({0, node.inputs.size(), node.outputs.size()}));
  if (inference.op<Custom>().node == nullptr) return UnknownOperation(node);
  CustomCall call(inference.graph(), node);
  HEARTH_TRY(call.Make(&CustomOperator::Infer));
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const hearth_op_tensor& made = call.outputs()[k];
    const std::optional<DType> dtype = DTypeFromName(made.dtype == nullptr ? "" : made.dtype);
    if (!dtype || made.rank < 0 || made.rank > HEARTH_OPS_MAX_RANK) {
      return call.Failed(StatusCode::kInvalidArgument, fmt::format("output {} has the type '{}' and the rank {}", k,
                                                                   made.dtype == nullptr ? "" : made.dtype, made.rank));
    }
    if (*dtype != inference.output(k).dtype) inference.SetOutputType(k, *dtype);
    const Status fits = inference.SetOutput(k, Shape::FromSpan(std::span(made.shape, static_cast<size_t>(made.rank))));
    if (!fits.ok()) return call.Failed(fits.code(), fits.message());
  }
  return Status::Ok();
}

Status RunCustom(const Graph& graph, const Node& node, std::span<const std::span<const std::byte>> inputs,
                 std::span<const std::span<std::byte>> outputs) {
  CustomCall call(graph, node);
  for (size_t k = 0; k < inputs.size(); ++k) call.inputs()[k].data = const_cast<std::byte*>(inputs[k].data());
  for (size_t k = 0; k < outputs.size(); ++k) call.outputs()[k].data = outputs[k].data();
  return call.Make(&CustomOperator::Run);
}

std::string CustomOpsIn(const Graph& graph) {
  std::string ops;
  for (const Node& node : graph.nodes()) {
    const auto* custom = std::get_if<Custom>(&node.op);
    if (custom == nullptr) continue;
    const std::string op = Quoted(custom->node->op.name) + Quoted(custom->node->op.version);
    if (ops.find(op) == std::string::npos) ops += op;
  }
  return ops;
}

}  // namespace hearth
