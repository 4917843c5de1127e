// Random numbers. A variable counts an operator's draws, so each run and iteration continues its stream.
#include "core/base/error.h"
#include "frontends/tflite/op_readers.h"

namespace hearth {
namespace {

constexpr int32_t kUniform = 148;

// In LiteRT two seeds of 0 give other numbers at each start. Here each operator then has its own stream, the same at
// each start.
Status SetSeeds(OperatorView& op, Random& random) {
  HEARTH_ASSIGN(const wire::RandomOptions* options, op.Options<wire::RandomOptions>());
  // LiteRT 2.3.0 takes the lower 32 bits, signed, of the file's 64.
  random.seed = static_cast<int32_t>(options->seed());
  random.seed2 = static_cast<int32_t>(options->seed2());
  if (random.seed == 0 && random.seed2 == 0) {
    random.seed = int64_t{op.index()} + 1;
    random.seed2 = int64_t{op.subgraph()} + 1;
  }
  return Status::Ok();
}

constexpr int64_t kMostWords = int64_t{1} << 30;

// Converts words to numbers of this type and shape: two words make a 64-bit number.
Made NumbersOfWords(NodeWriter& to, ValueId words, const TensorDesc& made) {
  const Made pairs = BitsOf(made.dtype) == 64 ? to.AddReshape(words, {to.shape(words)[0] / 2, 2}) : words;
  return to.AddReshape(made.dtype == DType::kUInt32 ? pairs : to.Add(Bitcast{made.dtype}, {pairs}, made.dtype),
                       made.shape);
}

// Counts the draws in a variable: WHILE may call a drawing subgraph, and each iteration continues where the previous
// one ended.
Expanded Draw(OperatorView& op, const Random& random, std::vector<ValueId> inputs, DType dtype) {
  const std::string place = op.subgraph() < 0 ? "" : fmt::format("_of_subgraph_{}", op.subgraph());
  const std::string name = fmt::format("{}_{}{}_runs", op.code().row->name, op.index(), place);
  return OneValue(op.to().AddWithRunCount(name, random, std::move(inputs), dtype));
}

}  // namespace

// (state) -> (state, bits)
Expanded ExpandRandomBits(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const auto* options, op.Options<wire::StablehloRngBitGeneratorOptions>());
  const wire::RngAlgorithm algorithm = options->algorithm();
  if (algorithm < wire::RngAlgorithm_MIN || algorithm > wire::RngAlgorithm_MAX || op.output_count() != 2) {
    return Error(StatusCode::kMalformedInput, "an algorithm of the number {} and {} outputs",
                 static_cast<int>(algorithm), op.output_count());
  }
  if (op.desc(0).dtype != DType::kUInt64) {
    return Error(StatusCode::kMalformedInput, "its state is {}, needs uint64", DTypeName(op.desc(0).dtype));
  }
  HEARTH_ASSIGN(const TensorDesc made, op.DescribeOutput(1));
  const bool is_integer = made.dtype == DType::kInt32 || made.dtype == DType::kUInt32 || made.dtype == DType::kInt64 ||
                          made.dtype == DType::kUInt64;
  const int64_t words = made.shape.element_count() * (BitsOf(made.dtype) / 32);
  if (!is_integer || words < 1 || words > kMostWords) {
    return Error(StatusCode::kUnsupported, "bits as {}[{}]", DTypeName(made.dtype), made.shape.ToString());
  }
  const bool is_threefry = algorithm == wire::RngAlgorithm_THREEFRY;
  const RandomBits bits{.generator = is_threefry ? BitGenerator::kThreefry : BitGenerator::kPhilox,
                        .words = static_cast<int32_t>(words)};
  const Made halves = to.Add(Bitcast{DType::kUInt32}, {op.operand(0)}, DType::kUInt32);
  HEARTH_ASSIGN(const std::vector<ValueId> drawn,
                to.AddSeveral(bits, {halves}, {PlainType(DType::kUInt32), PlainType(DType::kUInt32)}));
  HEARTH_ASSIGN(const ValueId state, to.Add(Bitcast{DType::kUInt64}, {drawn[0]}, DType::kUInt64));
  HEARTH_ASSIGN(const ValueId numbers, NumbersOfWords(to, drawn[1], made));
  return std::vector<ValueId>{state, numbers};
}

// (shape)
Expanded ExpandRandomNumbers(OperatorView& op, GraphWriter& to) {
  const bool is_uniform = op.code().row->code == kUniform;
  Random random{.kind = is_uniform ? RandomKind::kUniform : RandomKind::kStandardNormal, .shape = {}};
  HEARTH_TRY(SetSeeds(op, random));
  HEARTH_ASSIGN(random.shape, to.ShapeIn(op.operand(0)));
  HEARTH_ASSIGN(const TensorDesc made, op.DescribeOutput(0));
  if (random.shape.element_count() == 0) return OneValue(to.AddConstant({made.dtype, random.shape, {}}, {}));
  if (made.dtype != DType::kFloat32) return Error(StatusCode::kUnsupported, "{} numbers", DTypeName(made.dtype));
  return Draw(op, random, {}, DType::kFloat32);
}

// (logits, samples)
Expanded ExpandMultinomial(OperatorView& op, GraphWriter& to) {
  Random random{.kind = RandomKind::kMultinomial, .shape = {}};
  HEARTH_TRY(SetSeeds(op, random));
  HEARTH_ASSIGN(const std::vector<int64_t> samples, to.Integers(op.operand(1)));
  if (samples.size() != 1 || samples[0] < 0 || samples[0] > (1 << 24)) {
    return Error(StatusCode::kUnsupported, "its number of samples is {}", samples.empty() ? 0 : samples[0]);
  }
  random.samples = static_cast<int32_t>(samples[0]);
  HEARTH_ASSIGN(const TensorDesc made, op.DescribeOutput(0));
  const Shape& logits = op.shape(0);
  if (logits.rank() == 2 && (random.samples == 0 || logits[0] == 0)) {
    return OneValue(to.AddConstant({made.dtype, {logits[0], random.samples}, {}}, {}));
  }
  return Draw(op, random, {op.operand(0)}, made.dtype);
}

}  // namespace hearth
