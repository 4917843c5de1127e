#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/graph/ops/node_inference.h"
#include "core/graph/ops/op_functions.h"

namespace hearth {
namespace {

// The words of a node's stream from a position on.
class Words {
 public:
  Words(const Random& random, uint64_t first_block) : random_(random), block_(first_block) {}

  uint32_t Next() {
    if (used_ == words_.size()) {
      const auto seed = static_cast<uint64_t>(random_.seed), seed2 = static_cast<uint64_t>(random_.seed2);
      words_ = Philox({Low(block_), High(block_), Low(seed2), High(seed2)}, {Low(seed), High(seed)});
      ++block_;
      used_ = 0;
    }
    return words_[used_++];
  }

  // Uniform in [0, 1).
  float NextFloat() { return std::bit_cast<float>(uint32_t{127} << 23 | (Next() & 0x7fffff)) - 1.0f; }
  double NextDouble() {
    const uint64_t high = Next() & 0xfffff;
    return std::bit_cast<double>(uint64_t{1023} << 52 | high << 32 | Next()) - 1.0;
  }

 private:
  static uint32_t Low(uint64_t number) { return static_cast<uint32_t>(number); }
  static uint32_t High(uint64_t number) { return static_cast<uint32_t>(number >> 32); }

  const Random& random_;
  uint64_t block_;
  std::array<uint32_t, 4> words_ = {};
  size_t used_ = 4;
};

// Box-Muller pairs in float32, as LiteRT calculates them.
void FillNormal(Words& words, std::vector<double>& values) {
  constexpr float kLeast = 1.0e-7f;  // keeps the logarithm finite
  for (size_t i = 0; i < values.size(); i += 2) {
    const float radius = std::sqrt(-2.0f * std::log(std::max(words.NextFloat(), kLeast)));
    const float angle = static_cast<float>(2.0 * std::numbers::pi) * words.NextFloat();
    values[i] = std::sin(angle) * radius;
    if (i + 1 < values.size()) values[i + 1] = std::cos(angle) * radius;
  }
}

// Draws the class whose share of the summed probabilities holds a random number. Non-finite logits have none.
void FillMultinomial(Words& words, const ReferenceTensor& logits, int32_t samples, std::vector<double>& values) {
  const auto classes = static_cast<size_t>(logits.shape[1]);
  std::vector<double> sums(classes);
  for (size_t row = 0; row < logits.values.size() / classes; ++row) {
    const std::span<const double> line = std::span(logits.values).subspan(row * classes, classes);
    double largest = std::numeric_limits<double>::lowest(), sum = 0.0;
    for (const double logit : line) largest = std::isfinite(logit) ? std::max(largest, logit) : largest;
    for (size_t k = 0; k < classes; ++k) {
      if (std::isfinite(line[k])) sum += std::exp(line[k] - largest);
      sums[k] = sum;
    }
    for (int32_t sample = 0; sample < samples; ++sample) {
      const auto found = std::upper_bound(sums.begin(), sums.end(), words.NextDouble() * sum);
      const auto chosen = std::min<ptrdiff_t>(found - sums.begin(), static_cast<ptrdiff_t>(classes) - 1);
      values[row * static_cast<size_t>(samples) + static_cast<size_t>(sample)] = static_cast<double>(chosen);
    }
  }
}

// The number of blocks of four words by which a run advances the stream. LiteRT reserves 256 blocks for each word of a
// multinomial draw and rounds samples up to fours.
uint64_t BlocksOf(const Random& random, size_t numbers) {
  if (random.kind != RandomKind::kMultinomial) return (numbers + 3) / 4;
  const auto samples = static_cast<uint64_t>(random.samples);
  return numbers / samples * ((samples + 3) / 4 * 4) * 2 * 256;
}

}  // namespace

std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0], b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

std::array<uint32_t, 2> Threefry(std::array<uint32_t, 2> counter, std::array<uint32_t, 2> key) {
  constexpr int kRounds = 20, kRoundsOfAKey = 4;
  constexpr std::array<int, 8> kTurns = {13, 15, 26, 6, 17, 29, 16, 24};
  const std::array<uint32_t, 3> keys = {key[0], key[1], 0x1BD11BDA ^ key[0] ^ key[1]};
  std::array<uint32_t, 2> x = {counter[0] + keys[0], counter[1] + keys[1]};
  for (int round = 0; round < kRounds; ++round) {
    x[0] += x[1];
    x[1] = std::rotl(x[1], kTurns[static_cast<size_t>(round % 8)]) ^ x[0];
    if (round % kRoundsOfAKey != kRoundsOfAKey - 1) continue;
    const auto injection = static_cast<uint32_t>(round / kRoundsOfAKey) + 1;
    x[0] += keys[injection % 3];
    x[1] += keys[(injection + 1) % 3] + injection;
  }
  return x;
}

Status InferRandomBits(const NodeInference& inference) {
  const auto& bits = inference.op<RandomBits>();
  const Shape& state = inference.shape(0);
  const bool is_philox = bits.generator == BitGenerator::kPhilox;
  const bool fits = state.rank() == 2 && state[1] == 2 && (state[0] == 2 || (is_philox && state[0] == 3));
  if (inference.input(0).dtype != DType::kUInt32 || !fits) {
    return inference.Malformed("its state is {}[{}], needs {} numbers of 64 bits as uint32 halves",
                               DTypeName(inference.input(0).dtype), state, is_philox ? "2 or 3" : "2");
  }
  inference.SetOutputType(0, DType::kUInt32);
  HEARTH_TRY(inference.SetOutput(0, state));
  inference.SetOutputType(1, DType::kUInt32);
  return inference.SetOutput(1, {bits.words});
}

void ReferenceRandomBits(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& bits = std::get<RandomBits>(node.op);
  const std::vector<double>& state = inputs[0]->values;
  const auto half = [&](size_t k) { return static_cast<uint32_t>(state[k]); };
  uint64_t counter = uint64_t{half(3)} << 32 | half(2);
  const std::array<uint32_t, 2> key = {half(0), half(1)};
  const std::array<uint32_t, 2> upper = state.size() == 6 ? std::array{half(4), half(5)} : key;
  std::vector<double>& words = outputs[1].values;
  for (size_t at = 0; at < words.size(); ++counter) {
    const std::array<uint32_t, 2> lower = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32)};
    const auto take = [&](const auto& block) {
      for (size_t k = 0; k < block.size() && at < words.size(); ++k) words[at++] = block[k];
    };
    if (bits.generator == BitGenerator::kPhilox) {
      take(Philox({lower[0], lower[1], upper[0], upper[1]}, key));
    } else {
      take(Threefry(lower, key));
    }
  }
  outputs[0].values = state;
  outputs[0].values[2] = static_cast<uint32_t>(counter);
  outputs[0].values[3] = static_cast<uint32_t>(counter >> 32);
}

Status InferRandom(const NodeInference& inference) {
  const auto& random = inference.op<Random>();
  const bool is_multinomial = random.kind == RandomKind::kMultinomial;
  HEARTH_TRY(inference.CheckOperands({is_multinomial ? size_t{2} : size_t{1}, 0, 2}));
  const size_t runs = is_multinomial ? 1 : 0;
  if (inference.input(runs).dtype != DType::kInt32 || inference.shape(runs) != Shape{1}) {
    return inference.Malformed("its number of runs is {}[{}], needs int32[1]", DTypeName(inference.input(runs).dtype),
                               inference.shape(runs));
  }
  inference.SetOutputType(1, DType::kInt32);
  HEARTH_TRY(inference.SetOutput(1, {1}));
  if (!is_multinomial) {
    inference.SetOutputType(0, DType::kFloat32);
    return inference.SetOutput(0, random.shape);
  }
  HEARTH_TRY(inference.CheckRank(0, 2));
  HEARTH_TRY(inference.CheckReal(0));
  const DType dtype = inference.output(0).dtype;
  if (dtype != DType::kInt32 && dtype != DType::kInt64)
    return inference.Malformed("the output is {}, classes need int32 or int64", DTypeName(dtype));
  inference.SetOutputType(0, dtype);
  return inference.SetOutput(0, {inference.shape(0)[0], random.samples});
}

void ReferenceRandom(const Node& node, ReferenceInputs inputs, ReferenceOutputs outputs) {
  const auto& random = std::get<Random>(node.op);
  std::vector<double>& values = outputs[0].values;
  const auto runs = static_cast<uint32_t>(static_cast<int64_t>(inputs.back()->values[0]));
  Words words(random, BlocksOf(random, values.size()) * runs);
  switch (random.kind) {
    case RandomKind::kUniform:
      for (double& value : values) value = words.NextFloat();
      break;
    case RandomKind::kStandardNormal: FillNormal(words, values); break;
    case RandomKind::kMultinomial: FillMultinomial(words, *inputs[0], random.samples, values); break;
  }
  outputs[1].values[0] = static_cast<int32_t>(runs + 1);
}

}  // namespace hearth
