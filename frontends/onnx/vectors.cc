// Support vector machines (ai.onnx.ml).
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "frontends/onnx/classic.h"

namespace hearth::onnx {
namespace {

constexpr int64_t kMostClasses = 1 << 10, kMostCoupled = 1 << 6;

// What each support vector says of each row: [rows, vectors].
Made KernelsOf(OpView& op, NodeWriter& to, ValueId x, std::vector<double> vectors, int64_t count) {
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

Results ReadSvmRegressor(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, FloatRowsOf(op, to));
  HEARTH_ASSIGN(const std::vector<double> vectors, RealsOf(op, "support_vectors"));
  HEARTH_ASSIGN(const std::vector<double> factors, RealsOf(op, "coefficients"));
  HEARTH_ASSIGN(const std::vector<double> rho, RealsOf(op, "rho"));
  const int64_t count = op.Int("n_supports", 0), features = to.shape(x)[1];
  const int64_t wanted = count > 0 ? count : features;
  if (rho.size() != 1 || ssize(factors) != wanted || wanted < 1 || ssize(vectors) != count * features) {
    return Error(StatusCode::kMalformedInput, "{} vectors of {} features: {} numbers and {} coefficients", count,
                 features, vectors.size(), factors.size());
  }
  const Made seen = count > 0 ? KernelsOf(op, to, x, vectors, count) : Made(x);
  HEARTH_ASSIGN(const ValueId made, LayerOf(to, seen, 1, factors, rho));
  if (op.Int("one_class", 0) == 0) return Plain(Transformed(to, made, PostTransform(op)));
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

// The probabilities of all classes from those of pairs, `firsts` [rows, pairs]: of a pair's first class, if it is one
// of both. They minimize the sum of (r_ji p_i - r_ij p_j)^2 (T.-F. Wu, C.-J. Lin and R. C. Weng, "Probability Estimates
// for Multi-class Classification by Pairwise Coupling", JMLR 2004, section 4), so Q p is the same number for each
// class; Q is singular where pairs agree with each other, and a small number on its diagonal leads to p there as well.
Made Coupled(NodeWriter& to, ValueId firsts, int32_t classes) {
  constexpr double kOnDiagonal = 1e-5;  // 3e-5 of p; eliminating in float32 adds less
  const int32_t rows = to.shape(firsts)[0], pairs = to.shape(firsts)[1], size = classes * classes;
  HEARTH_TRY(to.budget().ChargeOperators(8 * int64_t{classes}));
  std::vector<int32_t> of_row(static_cast<size_t>(size), 2 * pairs), of_column = of_row;  // behind the last: 0
  std::vector<double> identity(static_cast<size_t>(size));
  int32_t pair = 0;
  for (int32_t i = 0; i < classes; ++i) {
    identity[static_cast<size_t>(i * classes + i)] = 1.0;
    for (int32_t j = i + 1; j < classes; ++j, ++pair) {
      const auto upper = static_cast<size_t>(i * classes + j), lower = static_cast<size_t>(j * classes + i);
      of_row[upper] = of_column[lower] = pair;
      of_row[lower] = of_column[upper] = pairs + pair;
    }
  }
  const auto one = [&](double number) { return to.AddNumber(DType::kFloat32, number); };
  const Made seconds = to.Add(BinaryKind::kSub, {one(1.0), firsts});
  const Made none = to.AddFilled({rows, 1}, one(0.0));
  HEARTH_ASSIGN(const ValueId all, to.Add(Concat{.axis = 1}, {firsts, seconds, none}));
  const auto matrix = [&](const std::vector<int32_t>& places) {
    return to.AddReshape(to.Add(Gather{1, 0}, {all, to.AddIntegers({size}, places)}), {rows, classes, classes});
  };
  HEARTH_ASSIGN(const ValueId r, matrix(of_row));
  const Made squares = to.Add(Reduce{.kind = ReduceKind::kSum, .axes_mask = 1u << 1, .keep_dims = false},
                              {to.Add(UnaryKind::kSquare, r)});
  const Made diagonal = to.AddReshape(to.Add(BinaryKind::kAdd, {squares, one(kOnDiagonal)}), {rows, classes, 1});
  const Made eye = to.AddConstant({1, classes, classes}, DType::kFloat32, identity);
  const Made q = to.Add(BinaryKind::kSub,
                        {to.Add(BinaryKind::kMul, {eye, diagonal}), to.Add(BinaryKind::kMul, {r, matrix(of_column)})});
  HEARTH_ASSIGN(ValueId system, to.Add(Concat{.axis = 2}, {q, to.AddFilled({rows, classes, 1}, one(1.0))}));
  for (int32_t k = 0; k < classes; ++k) {  // Q is positive definite: its diagonal does for pivots
    std::vector<double> marks(static_cast<size_t>(classes));
    marks[static_cast<size_t>(k)] = 1.0;
    const Made own = to.AddSlice(system, 1, k, 1), factors = to.AddSlice(system, 2, k, 1);
    const Made pivot = to.Add(BinaryKind::kDiv, {own, to.AddSlice(own, 2, k, 1)});
    const Made others = to.Add(BinaryKind::kSub, {system, to.Add(BinaryKind::kMul, {factors, pivot})});
    const Made filled = to.Add(BroadcastTo{to.shape(system)}, {pivot});
    HEARTH_ASSIGN(system, to.Add(Select{}, {to.AddConstant({1, classes, 1}, DType::kBool, marks), filled, others}));
  }
  HEARTH_ASSIGN(const ValueId solved, to.AddReshape(to.AddSlice(system, 2, classes, 1), {rows, classes}));
  const Reduce sum{.kind = ReduceKind::kSum, .axes_mask = 1u << 1, .keep_dims = true};
  return to.Add(BinaryKind::kDiv, {solved, to.Add(sum, {solved})});
}

// (class, scores): of two classes -score and score, or their probabilities; of more the scores of all pairs.
Results ReadSvmClassifier(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, FloatRowsOf(op, to));
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
  if (!slopes.empty() && (ssize(slopes) != pairs || classes > kMostCoupled)) {
    return Error(StatusCode::kUnsupported, "{} probabilities of pairs among {} classes", slopes.size(), classes);
  }
  if (!to.budget().ChargeMade(4 * static_cast<size_t>(pairs * (count + classes))))
    return ReadingBudget::TooMuchMade("its vectors");
  const Pairs machines = PairsOf(per_class, factors, static_cast<size_t>(count));
  HEARTH_ASSIGN(const ValueId scores,
                LayerOf(to, KernelsOf(op, to, x, vectors, count), static_cast<int32_t>(pairs), machines.weights, rho));
  const Made wins = to.AddCast(to.Add(BinaryKind::kGreater, {scores, AddScalarLike(to, scores, 0.0)}), DType::kFloat32);
  const Made votes = LayerOf(to, wins, static_cast<int32_t>(classes), machines.votes, machines.at_zero);
  HEARTH_ASSIGN(const ValueId label, LabelOfLargest(op, to, votes, labels));
  Made shown(kNoValue);
  if (!slopes.empty()) {  // of a pair's first class 1 / (1 + exp(score * slope + offset))
    const auto list = [&](const std::vector<double>& numbers) {
      return to.AddConstant({static_cast<int32_t>(pairs)}, DType::kFloat32, numbers);
    };
    const Made line = to.Add(BinaryKind::kMul, {scores, list(slopes)});
    const Made opposite = to.Add(UnaryKind::kNeg, to.Add(BinaryKind::kAdd, {line, list(offsets)}));
    HEARTH_ASSIGN(const ValueId first, to.Add(UnaryKind::kLogistic, opposite));
    const Made rest = to.Add(BinaryKind::kSub, {AddScalarLike(to, first, 1.0), first});
    const Made all =
        classes == 2 ? to.Add(Concat{.axis = 1}, {first, rest}) : Coupled(to, first, static_cast<int32_t>(classes));
    shown = Transformed(to, all, PostTransform(op));
  } else if (classes == 2) {
    shown = ScoresOfTwo(op, to, scores,
                        PostTransform(op).starts_with("SOFTMAX") ? Single::kProbability : Single::kDifference);
  } else {
    shown = Transformed(to, scores, PostTransform(op));
  }
  return Plain({label, shown});
}

}  // namespace

constexpr OperatorRow kVectorRows[] = {
    {"SVMClassifier", ReadSvmClassifier, 0, kClassic},
    {"SVMRegressor", ReadSvmRegressor, 0, kClassic},
};
const OperatorList kVectorOperators = kVectorRows;

}  // namespace hearth::onnx
