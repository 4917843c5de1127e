// Sums of products of 8-bit integers, and the steps in which the integers count, as floats: for devices, and for hosts
// without kernels for bytes. Sums stay exact, because they are taken in parts below 2^24.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"

namespace hearth {
namespace {

constexpr double kExactBelow = 1 << 24;     // float32 has all integers
constexpr double kLargestCentered = 255.0;  // size of 8 bits less a zero point

class FloatComposer {
 public:
  explicit FloatComposer(Graph& graph) : graph_(graph) {}

  Result<Verdict> Run() {
    std::vector<Node> nodes = std::move(graph_.nodes());
    graph_.nodes().clear();
    Verdict verdict = Verdict::kUnchanged;
    for (Node& node : nodes) {
      origin_ = &node;
      status_ = Status::Ok();
      const bool composed = std::holds_alternative<DynamicQuantize>(node.op) ? ComposeSteps()
                            : std::holds_alternative<ConvInteger>(node.op)   ? ComposeSums()
                                                                             : false;
      HEARTH_TRY(status_);
      if (composed) {
        verdict = Verdict::kChanged;
      } else {
        graph_.nodes().push_back(std::move(node));
      }
    }
    return verdict;
  }

 private:
  // Adds a node that makes `output`, or a new value.
  ValueId Add(Op op, std::vector<ValueId> inputs, DType dtype = DType::kFloat32, ValueId output = kNoValue) {
    if (output == kNoValue) output = graph_.AddValue({origin_->name, {dtype, Shape(), std::nullopt}, std::nullopt});
    Node& node = graph_.AddNode({std::move(op), std::move(inputs), {output}, origin_->name, origin_->source_index});
    if (status_.ok()) status_ = OpDefOf(node.op).infer(graph_, node);
    return output;
  }
  ValueId Add(BinaryKind kind, ValueId a, ValueId b) { return Add(Binary{kind}, {a, b}, graph_.value(a).desc.dtype); }
  ValueId Number(float number) { return graph_.AddFloatConstant(origin_->name, Shape(), std::vector{number}); }
  ValueId Real(ValueId integers) { return Add(Cast{DType::kFloat32}, {integers}); }

  // round(x / step), at least `lowest` and at most `highest`.
  ValueId RoundedSteps(ValueId x, ValueId step, ValueId lowest, ValueId highest) {
    const ValueId steps = Add(Unary{UnaryKind::kRound}, {Add(BinaryKind::kDiv, x, step)});
    return Add(BinaryKind::kMinimum, Add(BinaryKind::kMaximum, steps, lowest), highest);
  }

  bool ComposeSteps() {
    const ValueId x = origin_->inputs[0];
    const ValueId nothing = Number(0), one = Number(1), all = Number(255);
    const uint32_t mask = (1u << graph_.value(x).desc.shape.rank()) - 1;
    const auto extreme = [&](ReduceKind kind, BinaryKind with) {
      return Add(with, Add(Reduce{.kind = kind, .axes_mask = mask, .keep_dims = false}, {x}), nothing);
    };
    const ValueId most = extreme(ReduceKind::kMax, BinaryKind::kMaximum);
    const ValueId least = extreme(ReduceKind::kMin, BinaryKind::kMinimum);
    const ValueId exact =
        Add(BinaryKind::kDiv, Add(BinaryKind::kSub, most, least), all);  // 0 also of the least numbers
    const ValueId is_zero = Add(Binary{BinaryKind::kEqual}, {exact, nothing}, DType::kBool);
    const ValueId step = Add(Select{}, {is_zero, one, exact}, {}, origin_->outputs[1]);
    const ValueId zero = RoundedSteps(Add(Unary{UnaryKind::kNeg}, {least}), step, nothing, all);
    const ValueId lowest = Add(BinaryKind::kSub, nothing, zero), highest = Add(BinaryKind::kSub, all, zero);
    const ValueId centered = RoundedSteps(x, step, lowest, highest);
    Add(Cast{DType::kUInt8}, {zero}, {}, origin_->outputs[2]);
    Add(Cast{DType::kUInt8}, {Add(BinaryKind::kAdd, centered, zero)}, {}, origin_->outputs[0]);
    centered_[{origin_->outputs[0], origin_->outputs[2]}] = centered;
    return true;
  }

  ValueId Centered(ValueId x, ValueId zero) {
    const auto [known, is_new] = centered_.try_emplace({x, zero}, kNoValue);
    if (is_new) {
      known->second = Real(x);
      if (zero != kNoValue) known->second = Add(BinaryKind::kSub, known->second, Real(zero));
    }
    return known->second;
  }

  // How much the weights of one result make of elements that are at most 1 in size, and the largest weight.
  struct WeightSizes {
    double result = 0, element = 1;
  };
  WeightSizes SizesOf(ValueId weights) {
    Result<std::vector<float>> floats = ConstantAsFloats(graph_, weights);
    if (!floats.ok()) {
      status_ = floats.status();
      return {};
    }
    WeightSizes sizes;
    const size_t depth = floats->size() / static_cast<size_t>(graph_.value(weights).desc.shape[0]);
    for (size_t first = 0; first < floats->size(); first += depth) {
      double sum = 0;
      for (size_t k = first; k < first + depth; ++k) {
        const double size = std::fabs(static_cast<double>((*floats)[k]));
        sum += size;
        sizes.element = std::max(sizes.element, size);
      }
      sizes.result = std::max(sizes.result, sum);
    }
    return sizes;
  }

  ValueId Product(ValueId x, ValueId weights) {
    if (graph_.value(weights).desc.shape.rank() == 2) return Add(FullyConnected{.keep_dims = true}, {x, weights});
    return Add(Conv2D{std::get<ConvInteger>(origin_->op).window}, {x, weights});
  }
  // As int32, of a device that may compute products by transforms.
  ValueId Sums(ValueId x, ValueId weights, ValueId output) {
    return Add(Cast{DType::kInt32}, {Add(Unary{UnaryKind::kRound}, {Product(x, weights)})}, DType::kInt32, output);
  }

  // Columns of the last dimension.
  ValueId PartOf(ValueId x, int32_t first, int32_t count) {
    Shape shape = graph_.value(x).desc.shape;
    const int last = shape.rank() - 1;
    std::vector<int32_t> begin(static_cast<size_t>(last) + 1, 0), ones(begin.size(), 1);
    begin.back() = first;
    shape[last] = count;
    return Add(Slice{Shape::FromSpan(begin), shape, Shape::FromSpan(ones), shape}, {x});
  }
  ValueId PartOfWeights(ValueId weights, int32_t first, int32_t count) {
    TensorDesc desc = graph_.value(weights).desc;
    const int last = desc.shape.rank() - 1;
    const OrderedBytes read = graph_.ReadConstant(weights);
    const std::span<const std::byte> bytes = read.bytes;
    const auto depth = static_cast<size_t>(desc.shape[last]);
    std::vector<std::byte> part;
    for (size_t row = 0; row < bytes.size(); row += depth) {
      const std::span<const std::byte> taken =
          bytes.subspan(row + static_cast<size_t>(first), static_cast<size_t>(count));
      part.insert(part.end(), taken.begin(), taken.end());
    }
    desc.shape[last] = count;
    return graph_.AddConstantValue(origin_->name, desc, std::move(part));
  }

  // False for windows and groups whose sums exceed 2^24 within a channel: the host computes them as integers.
  bool ComposeSums() {
    const ValueId weights = origin_->inputs[1], zero = InputOf(*origin_, 2);
    const Shape shape = graph_.value(weights).desc.shape, x_shape = graph_.value(origin_->inputs[0]).desc.shape;
    const int32_t depth = shape[shape.rank() - 1];
    const WeightSizes sizes = SizesOf(weights);
    const double taps = shape.rank() == 2 ? 1 : double{1} * shape[1] * shape[2];
    const double per_column = sizes.element * kLargestCentered * taps;
    const bool are_exact = kLargestCentered * sizes.result < kExactBelow;
    const bool has_groups = x_shape[x_shape.rank() - 1] != depth;
    if (!are_exact &&
        (per_column >= kExactBelow || has_groups || !graph_.HasRoomFor(graph_.ConstantSizeBytes(weights))))
      return false;
    const ValueId x = Centered(origin_->inputs[0], zero), made = origin_->outputs[0];
    const int32_t part = are_exact ? depth : static_cast<int32_t>((kExactBelow - 1) / per_column);
    if (part >= depth) {
      Sums(x, weights, made);
      return true;
    }
    ValueId sum = kNoValue;
    for (int32_t first = 0; first < depth && status_.ok(); first += part) {
      const int32_t count = std::min(part, depth - first);
      const ValueId sums = Sums(PartOf(x, first, count), PartOfWeights(weights, first, count), kNoValue);
      const ValueId output = first + count == depth ? made : kNoValue;
      sum = first == 0 ? sums : Add(Binary{BinaryKind::kAdd}, {sum, sums}, DType::kInt32, output);
    }
    return true;
  }

  Graph& graph_;
  const Node* origin_ = nullptr;                             // what is composed
  Status status_;                                            // of its nodes
  std::map<std::pair<ValueId, ValueId>, ValueId> centered_;  // by integers and zero point: their difference
};

}  // namespace

Result<Verdict> ToFloats(Graph& graph, const DeviceInfo& device) {
  const bool has_integers = std::ranges::any_of(
      graph.nodes(), [](const Node& node) { return IsOneOf<DynamicQuantize, ConvInteger>(node.op); });
  return has_integers && !device.multiplies_bytes ? FloatComposer(graph).Run() : Verdict::kUnchanged;
}

}  // namespace hearth
