// Support vector machines (ai.onnx.ml).
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "frontends/onnx/classic.h"

namespace hearth::onnx {
namespace {

constexpr int64_t kMostClasses = 1 << 10;

// What each support vector says of each row: [rows, vectors].
Made KernelsOf(OpView& op, ValueId x, std::vector<double> vectors, int64_t count) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const std::vector<double> given, RealsOf(op, "kernel_params"));
  const double gamma = given.size() == 3 ? given[0] : 0.0, added = given.size() == 3 ? given[1] : 0.0,
               degree = given.size() == 3 ? given[2] : 0.0;
  const std::string_view name = op.Text("kernel_type", "LINEAR");
  const auto features = static_cast<size_t>(to.shape(x)[1]), rows = static_cast<size_t>(count);
  const auto number = [&](double value) { return to.AddNumber(DType::kFloat32, value); };
  const auto products = [&](const Made& a) {
    const Shape shape{static_cast<int32_t>(rows), static_cast<int32_t>(features)};
    return to.Add(FullyConnected{.keep_dims = true}, {a, to.AddConstant(shape, DType::kFloat32, vectors)});
  };
  if (name == "LINEAR") return products(x);
  if (name == "RBF") {
    // |a - b|^2 = |a|^2 + |b|^2 - 2ab loses digits far from zero: all points are moved by the vectors' mean, a float32.
    std::vector<double> mean(features), squares(rows);
    for (size_t k = 0; k < vectors.size(); ++k) mean[k % features] += vectors[k] / static_cast<double>(rows);
    for (double& number : mean) number = static_cast<double>(static_cast<float>(number));
    for (size_t k = 0; k < vectors.size(); ++k) {
      vectors[k] -= mean[k % features];
      squares[k / features] += vectors[k] * vectors[k];
    }
    HEARTH_ASSIGN(
        const ValueId moved,
        to.Add(BinaryKind::kSub, {x, to.AddConstant({static_cast<int32_t>(features)}, DType::kFloat32, mean)}));
    const Made own = to.Add(Reduce{.kind = ReduceKind::kSum, .axes_mask = 1u << 1, .keep_dims = true},
                            {to.Add(UnaryKind::kSquare, moved)});
    const Made others = to.AddConstant({static_cast<int32_t>(rows)}, DType::kFloat32, squares);
    const Made both = to.Add(BinaryKind::kAdd, {own, others});
    const Made twice = to.Add(BinaryKind::kMul, {products(moved), number(2.0)});
    const Made distance = to.Add(UnaryKind::kRelu, to.Add(BinaryKind::kSub, {both, twice}));
    // Infinitely far from all vectors, where the difference is none.
    const Made is_far = to.Add(BinaryKind::kGreater, {own, number(std::numeric_limits<float>::max())});
    return to.Add(UnaryKind::kExp,
                  to.Add(BinaryKind::kMul, {to.Add(Select{}, {is_far, both, distance}), number(-gamma)}));
  }
  const Made scaled = to.Add(BinaryKind::kMul, {products(x), number(gamma)});
  const Made line = to.Add(BinaryKind::kAdd, {scaled, number(added)});
  if (name == "SIGMOID") return to.Add(UnaryKind::kTanh, line);
  if (name == "POLY") return to.Add(BinaryKind::kPow, {line, number(degree)});
  return Error(StatusCode::kUnsupported, "kernel_type={}", name);
}

// x by constant weights [results, features], plus one number for each result.
Made LayerOf(NodeWriter& to, const Made& x, int32_t results, const std::vector<double>& weights,
             const std::vector<double>& added) {
  const Shape shape{results, static_cast<int32_t>(weights.size()) / results};
  return to.Add(FullyConnected{.keep_dims = true}, {x, to.AddConstant(shape, DType::kFloat32, weights),
                                                    to.AddConstant({results}, DType::kFloat32, added)});
}

Result<ValueId> FeaturesOf(OpView& op) {
  HEARTH_ASSIGN(const ValueId x, RowsOf(op));
  return op.to().AddCast(x, DType::kFloat32);
}

Results ReadSvmRegressor(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId x, FeaturesOf(op));
  HEARTH_ASSIGN(const std::vector<double> vectors, RealsOf(op, "support_vectors"));
  HEARTH_ASSIGN(const std::vector<double> factors, RealsOf(op, "coefficients"));
  HEARTH_ASSIGN(const std::vector<double> rho, RealsOf(op, "rho"));
  const int64_t count = op.Int("n_supports", 0), features = to.shape(x)[1];
  const int64_t wanted = count > 0 ? count : features;
  if (rho.size() != 1 || ssize(factors) != wanted || wanted < 1 || ssize(vectors) != count * features) {
    return Error(StatusCode::kMalformedInput, "{} vectors of {} features: {} numbers and {} coefficients", count,
                 features, vectors.size(), factors.size());
  }
  const Made seen = count > 0 ? KernelsOf(op, x, vectors, count) : Made(x);
  HEARTH_ASSIGN(const ValueId made, LayerOf(to, seen, 1, factors, rho));
  if (op.Int("one_class", 0) == 0) return Plain(Transformed(op, made, PostTransform(op)));
  const Made is_inside = to.Add(BinaryKind::kGreater, {made, AddScalarLike(to, made, 0.0)});
  return Plain(to.Add(Select{}, {is_inside, to.AddFilled(to.shape(made), to.AddNumber(DType::kFloat32, 1.0)),
                                 AddScalarLike(to, made, -1.0)}));
}

// One machine for each pair of classes (C.-C. Chang and C.-J. Lin, "LIBSVM", section 7): which of both has the vote.
struct Pairs {
  std::vector<double> weights;         // [pairs, vectors]
  std::vector<double> votes, at_zero;  // [classes, pairs]; the votes of each class where no first one has any
};
Pairs PairsOf(const std::vector<int64_t>& per_class, const std::vector<double>& factors, size_t vectors) {
  const size_t classes = per_class.size(), pairs = classes * (classes - 1) / 2;
  std::vector<size_t> starts(classes + 1);
  for (size_t k = 0; k < classes; ++k) starts[k + 1] = starts[k] + static_cast<size_t>(per_class[k]);
  Pairs made{std::vector<double>(pairs * vectors), std::vector<double>(classes * pairs), std::vector<double>(classes)};
  size_t pair = 0;
  for (size_t first = 0; first < classes; ++first) {
    for (size_t second = first + 1; second < classes; ++second, ++pair) {
      const auto take = [&](size_t of, size_t row) {
        for (size_t k = starts[of]; k < starts[of + 1]; ++k)
          made.weights[pair * vectors + k] = factors[row * vectors + k];
      };
      take(first, second - 1);
      take(second, first);
      made.votes[first * pairs + pair] = 1.0;
      made.votes[second * pairs + pair] = -1.0;
      made.at_zero[second] += 1.0;
    }
  }
  return made;
}

// (class, scores): of two classes -score and score, or their probabilities; of more the scores of all pairs.
Results ReadSvmClassifier(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId x, FeaturesOf(op));
  HEARTH_ASSIGN(const std::vector<double> vectors, RealsOf(op, "support_vectors"));
  HEARTH_ASSIGN(const std::vector<double> factors, RealsOf(op, "coefficients"));
  HEARTH_ASSIGN(const std::vector<double> rho, RealsOf(op, "rho"));
  HEARTH_ASSIGN(const std::vector<double> slopes, RealsOf(op, "prob_a"));
  HEARTH_ASSIGN(const std::vector<double> offsets, RealsOf(op, "prob_b"));
  HEARTH_ASSIGN(const std::vector<int64_t> labels, ClassesOf(op));
  const std::vector<int64_t> per_class = op.Ints("vectors_per_class");
  const auto classes = static_cast<int64_t>(per_class.size()), pairs = classes * (classes - 1) / 2;
  if (per_class.empty()) return Error(StatusCode::kUnsupported, "no support vectors");
  if (classes < 2 || classes > kMostClasses ||
      std::ranges::any_of(per_class, [](int64_t n) { return n < 0 || n > (1 << 28); })) {
    return Error(StatusCode::kUnsupported, "vectors of {} classes", classes);
  }
  const int64_t count = std::accumulate(per_class.begin(), per_class.end(), int64_t{0}), features = to.shape(x)[1];
  if (count < 1 || ssize(labels) != classes || ssize(rho) != pairs || ssize(factors) != (classes - 1) * count ||
      ssize(vectors) != count * features || slopes.size() != offsets.size()) {
    return Error(StatusCode::kMalformedInput, "{} classes, {} vectors of {} features: {} numbers, {} coefficients",
                 classes, count, features, vectors.size(), factors.size());
  }
  if (!slopes.empty() && (classes > 2 || slopes.size() != 1)) {
    return Error(StatusCode::kUnsupported,
                 "probabilities of more than two classes: export its scores (raw_scores), or fit it without "
                 "probabilities");
  }
  if (!to.budget().ChargeMade(4 * static_cast<size_t>(pairs * (count + classes))))
    return ReadingBudget::TooMuchMade("its vectors");
  const Pairs machines = PairsOf(per_class, factors, static_cast<size_t>(count));
  HEARTH_ASSIGN(const ValueId scores,
                LayerOf(to, KernelsOf(op, x, vectors, count), static_cast<int32_t>(pairs), machines.weights, rho));
  const Made wins = to.AddCast(to.Add(BinaryKind::kGreater, {scores, AddScalarLike(to, scores, 0.0)}), DType::kFloat32);
  const Made votes = LayerOf(to, wins, static_cast<int32_t>(classes), machines.votes, machines.at_zero);
  HEARTH_ASSIGN(const ValueId label, LabelOfLargest(op, votes, labels));
  Made shown(kNoValue);
  if (!slopes.empty()) {  // of the first class 1 / (1 + exp(score * slope + offset))
    const Made line = to.Add(BinaryKind::kMul, {scores, AddScalarLike(to, scores, -slopes[0])});
    HEARTH_ASSIGN(const ValueId first, to.Add(UnaryKind::kLogistic,
                                              to.Add(BinaryKind::kSub, {line, AddScalarLike(to, scores, offsets[0])})));
    const Made rest = to.Add(BinaryKind::kSub, {AddScalarLike(to, first, 1.0), first});
    shown = Transformed(op, to.Add(Concat{.axis = 1}, {first, rest}), PostTransform(op));
  } else if (classes == 2) {
    shown =
        ScoresOfTwo(op, scores, PostTransform(op).starts_with("SOFTMAX") ? Single::kProbability : Single::kDifference);
  } else {
    shown = Transformed(op, scores, PostTransform(op));
  }
  HEARTH_ASSIGN(const ValueId real, shown);
  return std::vector{Tensor{.plain = label}, Tensor{.plain = real}};
}

}  // namespace

std::span<const OperatorRow> VectorOperators() {
  static constexpr OperatorRow kRows[] = {
      {"SVMClassifier", ReadSvmClassifier, 0, kClassic},
      {"SVMRegressor", ReadSvmRegressor, 0, kClassic},
  };
  return kRows;
}

}  // namespace hearth::onnx
