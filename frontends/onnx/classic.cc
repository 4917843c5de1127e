// Linear models and what prepares features for models (ai.onnx.ml).
#include "frontends/onnx/classic.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "core/graph/quantize.h"
#include "frontends/onnx/shared.h"
#include "frontends/onnx/tensors.h"

namespace hearth::onnx {

namespace {

// The constant that a tensor attribute holds.
Made AddListed(const OpView& op, const TensorProto& tensor) {
  HEARTH_ASSIGN(const Tensor made, AddTensor(op.scope().reading(), op.to(), tensor, "list"));
  return made.plain == kNoValue ? AddReadable(op.to(), made.stored) : Made(made.plain);
}

Made AddIntegers(NodeWriter& to, const std::vector<int64_t>& numbers) {
  return to.AddIntegers({static_cast<int32_t>(numbers.size())}, numbers);
}

}  // namespace

Result<std::vector<double>> RealsOf(const OpView& op, std::string_view name) {
  const AttributeProto* found = op.Find(name);
  if (found != nullptr && found->tensor == nullptr) {
    const std::vector<float> floats = op.Reals(name);
    return std::vector<double>(floats.begin(), floats.end());
  }
  const TensorProto* tensor = op.TensorOf(found != nullptr ? std::string(name) : std::string(name) + "_as_tensor");
  if (tensor == nullptr) return std::vector<double>();
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId list, AddListed(op, *tensor));
  const TensorDesc& desc = to.desc(list);
  std::vector<double> numbers(static_cast<size_t>(desc.shape.element_count()));
  LoadElements(desc.dtype, to.graph().ConstantBytes(list), numbers);
  return numbers;
}

Made RowsOf(OpView& op, NodeWriter& to) {
  HEARTH_ASSIGN(const ValueId given, op.In(0));
  HEARTH_ASSIGN(const ValueId x,
                to.desc(given).dtype == DType::kFloat64 ? Made(given) : to.AddCast(given, DType::kFloat32));
  const Shape& shape = to.shape(x);
  if (shape.rank() == 1) return to.AddReshape(x, {1, shape[0]});
  if (shape.rank() == 2) return x;
  return Error(StatusCode::kMalformedInput, "features of shape {}", shape.ToString());
}

Made FloatRowsOf(OpView& op, NodeWriter& to) {
  return to.AddCast(RowsOf(op, to), DType::kFloat32);
}

Made LayerOf(NodeWriter& to, const Made& x, int32_t results, const std::vector<double>& weights,
             const std::vector<double>& added) {
  const Shape shape{results, static_cast<int32_t>(weights.size()) / results};
  const Made bias = added.empty() ? Made(kNoValue) : to.AddConstant({results}, DType::kFloat32, added);
  return to.Add(FullyConnected{.keep_dims = true}, {x, to.AddConstant(shape, DType::kFloat32, weights), bias});
}

namespace {

// Numbers that are broadcast to rows of x: as many as `columns`, or one. kNoValue if there are none.
Made AddList(NodeWriter& to, ValueId x, const std::vector<double>& numbers, int32_t columns) {
  if (numbers.empty()) return kNoValue;
  if (numbers.size() != 1 && ssize(numbers) != columns) {
    return Error(StatusCode::kMalformedInput, "{} numbers for {} columns", numbers.size(), columns);
  }
  return to.AddConstant({static_cast<int32_t>(numbers.size())}, to.desc(x).dtype, numbers);
}

Made LikeAll(NodeWriter& to, BinaryKind kind, const Made& x, ReduceKind reduction, const Made& rows) {
  HEARTH_ASSIGN(const ValueId all, rows);
  const int last = to.shape(all).rank() - 1;
  return to.Add(kind, {x, to.Add(Reduce{.kind = reduction, .axes_mask = 1u << last, .keep_dims = true}, {all})});
}

// Softmax whose shares of zeros are zero.
Made SoftmaxOfOthers(NodeWriter& to, ValueId scores) {
  constexpr double kLeast = 1e-7;  // what onnxruntime takes for zero
  const Made above = to.Add(BinaryKind::kGreater, {to.Add(UnaryKind::kAbs, scores), AddScalarLike(to, scores, kLeast)});
  const Made powers = to.Add(UnaryKind::kExp, LikeAll(to, BinaryKind::kSub, scores, ReduceKind::kMax, scores));
  const Made kept = to.Add(Select{}, {above, powers, AddScalarLike(to, scores, 0.0)});
  return LikeAll(to, BinaryKind::kDiv, kept, ReduceKind::kSum, kept);
}

}  // namespace

Made Transformed(NodeWriter& to, const Made& scores, std::string_view name) {
  HEARTH_ASSIGN(const ValueId x, scores);
  if (name == "NONE") return x;
  if (name == "LOGISTIC") return to.Add(UnaryKind::kLogistic, x);
  if (name == "SOFTMAX") return to.Add(Softmax{}, {x});
  if (name == "SOFTMAX_ZERO") return SoftmaxOfOthers(to, x);
  return Error(StatusCode::kUnsupported, "post_transform={}", name);
}

Result<std::vector<int64_t>> ClassesOf(const OpView& op) {
  for (const std::string_view name : {"classlabels_int64s", "classlabels_ints"}) {
    if (std::vector<int64_t> labels = op.Ints(name); !labels.empty()) return labels;
  }
  HEARTH_ASSIGN(std::vector<int64_t> classes, NumbersOfTexts(op.scope().reading(), op.Texts("classlabels_strings")));
  if (classes.empty()) return Error(StatusCode::kMalformedInput, "no classes");
  return classes;
}

Made LabelOfLargest(OpView& op, NodeWriter& to, const Made& rows, const std::vector<int64_t>& classes) {
  const Made place = to.Add(ArgReduce{ArgKind::kMax, 1}, {rows}, DType::kInt32);
  HEARTH_ASSIGN(const ValueId label, to.Add(Gather{0, 0}, {AddIntegers(to, classes), place}));
  if (op.Find("classlabels_strings") != nullptr) to.marks().texts.insert(label);
  return label;
}

Made ScoresOfTwo(OpView& op, NodeWriter& to, ValueId scores, Single single) {
  const bool is_logistic = PostTransform(op) == "LOGISTIC";
  const bool is_opposite = is_logistic || single == Single::kDifference;
  const Made first = is_opposite ? to.Add(UnaryKind::kNeg, scores)
                                 : to.Add(BinaryKind::kSub, {AddScalarLike(to, scores, 1.0), scores});
  const Made both = to.Add(Concat{.axis = 1}, {first, scores});
  return is_logistic ? to.Add(UnaryKind::kLogistic, both) : both;
}

Results Classified(OpView& op, NodeWriter& to, const Made& scores, Single single, First first) {
  HEARTH_ASSIGN(const std::vector<int64_t> classes, ClassesOf(op));
  HEARTH_ASSIGN(const ValueId x, scores);
  const int32_t columns = to.shape(x)[1];
  const bool is_single = columns == 1 && classes.size() == 2;
  if (!is_single && columns != ssize(classes)) {
    return Error(StatusCode::kMalformedInput, "{} columns of scores for {} classes", columns, classes.size());
  }
  // As onnxruntime chooses, but that of LOGISTIC the class has the larger score shown.
  const double least = single == Single::kProbability && PostTransform(op) != "LOGISTIC" ? 0.5 : 0.0;
  const Made rows =
      is_single ? to.Add(Concat{.axis = 1}, {to.AddFilled(to.shape(x), AddScalarLike(to, x, least)), x}) : Made(x);
  HEARTH_ASSIGN(const ValueId label, LabelOfLargest(op, to, rows, classes));
  const Made all = is_single && first == First::kZero
                       ? to.Add(Concat{.axis = 1}, {to.AddFilled(to.shape(x), AddScalarLike(to, x, 0.0)), x})
                       : Made(x);
  const Made shown =
      is_single && first == First::kRest ? ScoresOfTwo(op, to, x, single) : Transformed(to, all, PostTransform(op));
  return Plain({label, to.AddCast(shown, DType::kFloat32)});
}

namespace {

// x by the attribute `coefficients` [results, features], plus `intercepts`.
Made LinearScores(OpView& op, NodeWriter& to, int64_t results) {
  HEARTH_ASSIGN(const ValueId x, FloatRowsOf(op, to));
  HEARTH_ASSIGN(const std::vector<double> factors, RealsOf(op, "coefficients"));
  HEARTH_ASSIGN(const std::vector<double> added, RealsOf(op, "intercepts"));
  const int32_t features = to.shape(x)[1];
  if (results < 1 || ssize(factors) != results * features || (!added.empty() && ssize(added) != results)) {
    return Error(StatusCode::kMalformedInput, "{} coefficients and {} intercepts for {} results of {} features",
                 factors.size(), added.size(), results, features);
  }
  return LayerOf(to, x, static_cast<int32_t>(results), factors, added);
}

Results ReadLinearRegressor(OpView& op, GraphWriter& to) {
  return Plain(Transformed(to, LinearScores(op, to, op.Int("targets", 1)), PostTransform(op)));
}

Results ReadLinearClassifier(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const std::vector<double> factors, RealsOf(op, "coefficients"));
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const int32_t features = desc.shape.rank() == 0 ? 0 : desc.shape[desc.shape.rank() - 1];
  const int64_t rows = features == 0 ? 0 : ssize(factors) / features;
  return Classified(op, to, LinearScores(op, to, rows), Single::kScore);
}

Results ReadScaler(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, to.AddCast(op.In(0), DType::kFloat32));
  HEARTH_ASSIGN(const std::vector<double> offsets, RealsOf(op, "offset"));
  HEARTH_ASSIGN(const std::vector<double> scales, RealsOf(op, "scale"));
  const int rank = to.shape(x).rank();
  const int32_t features = rank == 0 ? 1 : to.shape(x)[rank - 1];
  HEARTH_ASSIGN(const ValueId offset, AddList(to, x, offsets, features));
  HEARTH_ASSIGN(const ValueId scale, AddList(to, x, scales, features));
  const Made moved = offset == kNoValue ? Made(x) : to.Add(BinaryKind::kSub, {x, offset});
  return Plain(scale == kNoValue ? moved : to.Add(BinaryKind::kMul, {moved, scale}));
}

Results ReadNormalizer(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, to.AddCast(op.In(0), DType::kFloat32));
  const std::string_view norm = op.Text("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2") return Error(StatusCode::kUnsupported, "norm={}", norm);
  const int last = to.shape(x).rank() - 1;
  if (last < 0) return Error(StatusCode::kMalformedInput, "a single number");
  const Made sizes = norm == "L2" ? to.Add(UnaryKind::kSquare, x) : to.Add(UnaryKind::kAbs, x);
  Made size = to.Add(
      Reduce{.kind = norm == "MAX" ? ReduceKind::kMax : ReduceKind::kSum, .axes_mask = 1u << last, .keep_dims = true},
      {norm == "MAX" ? Made(x) : sizes});
  if (norm == "L2") size = to.Add(UnaryKind::kSqrt, size);
  const Made is_zero = to.Add(BinaryKind::kEqual, {size, AddScalarLike(to, x, 0.0)});
  return Plain(to.Add(BinaryKind::kDiv, {x, to.Add(Select{}, {is_zero, AddScalarLike(to, x, 1.0), size})}));
}

Results ReadBinarizer(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  const Made is_above = to.Add(BinaryKind::kGreater, {x, AddScalarLike(to, x, op.Float("threshold", 0.0))});
  return Plain(to.AddCast(is_above, to.desc(x).dtype));
}

Results ReadImputer(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  const bool is_real = IsReal(to.desc(x));
  HEARTH_ASSIGN(const std::vector<double> reals, RealsOf(op, "imputed_value_floats"));
  const std::vector<int64_t> integers = op.Ints("imputed_value_int64s");
  const size_t count = is_real ? reals.size() : integers.size();
  const int rank = to.shape(x).rank();
  if (rank == 0 || (count != 1 && static_cast<int64_t>(count) != to.shape(x)[rank - 1])) {
    return Error(StatusCode::kMalformedInput, "{} numbers in place of missing ones for a shape {}", count,
                 to.shape(x).ToString());
  }
  const DType dtype = to.desc(x).dtype;
  HEARTH_ASSIGN(const ValueId values, is_real ? to.AddConstant({static_cast<int32_t>(count)}, dtype, reals)
                                              : to.AddCast(AddIntegers(to, integers), dtype));
  const double real = op.Float("replaced_value_float", 0.0);
  const Made missing =
      is_real ? AddScalarLike(to, x, real) : to.AddCast(AddIntegers(to, {op.Int("replaced_value_int64", 0)}), dtype);
  const Made is_missing =
      is_real && std::isnan(real) ? to.Add(BinaryKind::kNotEqual, {x, x}) : to.Add(BinaryKind::kEqual, {x, missing});
  return Plain(to.Add(Select{}, {is_missing, to.Add(BroadcastTo{to.shape(x)}, {values}), x}));
}

// Elements of the last dimension at the places that operand 1 lists.
Results ReadArrayFeatureExtractor(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  HEARTH_ASSIGN(const TensorDesc places, op.Desc(1));
  const Shape shape = to.shape(x);
  if (shape.rank() == 0) return Error(StatusCode::kMalformedInput, "a single number");
  const auto count = static_cast<int32_t>(places.shape.element_count());
  HEARTH_ASSIGN(const ValueId taken,
                to.Add(Gather{shape.rank() - 1, 0},
                       {x, to.AddReshape(FromFront(op, to, op.In(1), shape.rank() - 1, 1), {count})}));
  return Plain(shape.rank() == 1 ? to.AddReshape(taken, {1, count}) : Made(taken));
}

Results ReadFeatureVectorizer(OpView& op, GraphWriter& to) {
  const std::vector<int64_t> columns = op.Ints("inputdimensions");
  Operands parts;
  for (size_t i = 0; i < op.input_count(); ++i) {
    HEARTH_ASSIGN(const TensorDesc desc, op.Desc(i));
    const Shape& shape = desc.shape;
    const Shape rows = shape.rank() == 2 ? shape : Shape{1, static_cast<int32_t>(shape.element_count())};
    if (!columns.empty() && (i >= columns.size() || columns[i] != rows[1])) {
      return Error(StatusCode::kUnsupported, "inputdimensions that cut or pad {} columns", rows[1]);
    }
    parts.Append(to.AddReshape(to.AddCast(op.In(i), DType::kFloat32), rows));
  }
  return Plain(to.Add(Concat{.axis = 1}, parts));
}

// The list in one of the attributes PREFIX_int64s, PREFIX_strings, PREFIX_floats and PREFIX_tensor.
struct Listed {
  ValueId list = kNoValue;
  int32_t count = 0;
  bool are_texts = false;
};
Result<Listed> ListOf(const OpView& op, NodeWriter& to, const std::string& prefix) {
  Made list(kNoValue);
  std::vector<int64_t> integers = op.Ints(prefix + "_int64s");
  const bool are_texts = integers.empty() && op.Find(prefix + "_strings") != nullptr;
  if (are_texts) {
    HEARTH_ASSIGN(integers, NumbersOfTexts(op.scope().reading(), op.Texts(prefix + "_strings")));
  }
  if (!integers.empty()) {
    list = AddIntegers(to, integers);
  } else if (const TensorProto* tensor = op.TensorOf(prefix + "_tensor"); tensor != nullptr) {
    list = AddListed(op, *tensor);
  } else {
    const std::vector<float> floats = op.Reals(prefix + "_floats");
    list = to.AddConstant({static_cast<int32_t>(floats.size())}, DType::kFloat32, {floats.begin(), floats.end()});
  }
  HEARTH_ASSIGN(const ValueId made, list);
  const auto count = static_cast<int32_t>(to.shape(made).element_count());
  HEARTH_ASSIGN(const ValueId flat, to.AddReshape(made, {count}));
  return Listed{flat, count, to.marks().texts.contains(made) || are_texts};
}

// Whether operand 0, with a new last dimension, is each of a list: texts are no numbers.
Made IsEach(OpView& op, NodeWriter& to, const Listed& listed) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  const Shape shape = to.shape(x);
  if (listed.count == 0 || shape.rank() >= Shape::kMaxRank || listed.are_texts != to.marks().texts.contains(x)) {
    return Error(StatusCode::kUnsupported, "{}{} listed for {} of shape {}", listed.count,
                 listed.are_texts ? " texts" : "", DTypeName(to.desc(x).dtype), shape.ToString());
  }
  HEARTH_ASSIGN(const ValueId each, to.AddReshape(x, WithDimension(shape, shape.rank(), 1)));
  HEARTH_ASSIGN(const ValueId list, to.AddCast(listed.list, to.desc(x).dtype));
  Made are_equal = to.Add(BinaryKind::kEqual, {each, list});
  if (!IsReal(to.desc(x))) return are_equal;
  const Made are_nan = to.Add(BinaryKind::kLogicalAnd, {to.Add(BinaryKind::kNotEqual, {each, each}),
                                                        to.Add(BinaryKind::kNotEqual, {list, list})});
  return to.Add(BinaryKind::kLogicalOr, {are_equal, are_nan});
}

// 1 at the place of each element among the categories, in a new last dimension. Others have zeros, also where the file
// asks for an error (zeros=0).
Results ReadOneHotEncoder(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const Listed categories, ListOf(op, to, "cats"));
  return Plain(to.AddCast(IsEach(op, to, categories), DType::kFloat32));
}

// The value of each key; of others the default, or -1 where that is a text which the file does not name.
Results ReadLabelEncoder(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const Listed keys, ListOf(op, to, "keys"));
  HEARTH_ASSIGN(const Listed values, ListOf(op, to, "values"));
  if (keys.count != values.count)
    return Error(StatusCode::kMalformedInput, "{} keys and {} values", keys.count, values.count);
  const DType dtype = to.desc(values.list).dtype;
  const TensorProto* tensor = op.TensorOf("default_tensor");
  const std::string_view text = op.Text("default_string", "");
  Made otherwise(kNoValue);
  if (tensor != nullptr) {
    otherwise = AddListed(op, *tensor);
  } else if (values.are_texts) {
    std::vector<int64_t> number = {-1};
    if (!text.empty()) {
      HEARTH_ASSIGN(number, NumbersOfTexts(op.scope().reading(), {text}));
    }
    otherwise = AddIntegers(to, number);
  } else {
    otherwise = dtype == DType::kInt64 ? AddIntegers(to, {op.Int("default_int64", -1)})
                                       : to.AddConstant(Shape(), dtype, {op.Float("default_float", -0.0)});
  }
  HEARTH_ASSIGN(const ValueId missing, otherwise);
  if (to.desc(missing).dtype != dtype || to.shape(missing).element_count() != 1)
    return Error(StatusCode::kMalformedInput, "a default of {}", DTypeName(to.desc(missing).dtype));
  HEARTH_ASSIGN(const ValueId marks, to.AddCast(IsEach(op, to, keys), DType::kInt32));
  const int last = to.shape(marks).rank() - 1;
  const Made place = to.Add(ArgReduce{ArgKind::kMax, last}, {marks}, DType::kInt32);
  const Made is_any = to.Add(Reduce{.kind = ReduceKind::kMax, .axes_mask = 1u << last, .keep_dims = false}, {marks});
  const Made found = to.Add(Gather{0, 0}, {values.list, place});
  HEARTH_ASSIGN(const ValueId made,
                to.Add(Select{}, {to.AddCast(is_any, DType::kBool), found, to.AddReshape(missing, Shape())}));
  if (values.are_texts) to.marks().texts.insert(made);
  return Plain(made);
}

// Only sequences of maps follow from it: the same numbers, in the order of the classes.
Results ReadZipMap(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const std::vector<int64_t> classes, ClassesOf(op));
  HEARTH_ASSIGN(const ValueId scores, op.In(0));
  const Shape& shape = to.shape(scores);
  if (shape.rank() == 0 || shape[shape.rank() - 1] != ssize(classes))
    return Error(StatusCode::kMalformedInput, "{} classes for scores of shape {}", classes.size(), shape.ToString());
  return Plain(scores);
}

}  // namespace

constexpr OperatorRow kClassicRows[] = {
    {"ArrayFeatureExtractor", ReadArrayFeatureExtractor, 0, kClassic},
    {"Binarizer", ReadBinarizer, 0, kClassic},
    {"FeatureVectorizer", ReadFeatureVectorizer, 0, kClassic},
    {"Imputer", ReadImputer, 0, kClassic},
    {"LabelEncoder", ReadLabelEncoder, 0, kClassic},
    {"LinearClassifier", ReadLinearClassifier, 0, kClassic},
    {"LinearRegressor", ReadLinearRegressor, 0, kClassic},
    {"Normalizer", ReadNormalizer, 0, kClassic},
    {"OneHotEncoder", ReadOneHotEncoder, 0, kClassic},
    {"Scaler", ReadScaler, 0, kClassic},
    {"ZipMap", ReadZipMap, 0, kClassic},
};
const OperatorList kClassicOperators = kClassicRows;

}  // namespace hearth::onnx
