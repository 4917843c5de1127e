// The largest of many channels are the reference's, in its order, whether a work item searches each pixel or a group
// does: with equal numbers, both zeros, infinities and NaN in the parts of any item.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/device/device_rules.h"
#include "core/lowering/lower.h"
#include "tests/testing/on_device.h"
#include "tests/testing/one_input.h"

namespace hearth {
namespace {

using testing::OneInputGraph;

enum class TopKNumbers : uint8_t { kApart, kManyTies, kAllEqual, kExtremes, kFewNumbers };

struct TopKProblem {
  const char* name;
  Shape shape;
  int32_t k;
  TopKNumbers numbers = TopKNumbers::kApart;
};

// Within the loops of software drivers (Rule::kLoopLimit), so that no node runs on the CPU instead.
const TopKProblem kTopKProblems[] = {
    {"a classifier's", {1, 1001}, 5},
    {"a slice for each item", {1, 256}, 4},
    {"less than a slice for some items", {2, 125}, 3},
    {"nearly all channels, sorted", {1, 125}, 119},
    {"pixels", {2, 3, 301}, 6},
    {"ties", {3, 1001}, 9, TopKNumbers::kManyTies},
    {"equal numbers", {1, 515}, 25, TopKNumbers::kAllEqual},
    {"zeros, infinities and NaN", {2, 133}, 110, TopKNumbers::kExtremes},
    {"fewer numbers than wanted", {1, 1001}, 9, TopKNumbers::kFewNumbers},
};

OneInputGraph TopKGraph(const TopKProblem& problem, bool positions) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  OneInputGraph made(problem.shape, {-8, 8});
  for (size_t k = 0; k < made.x.size(); ++k) {
    float& number = made.x[k];
    const float extremes[] = {kNan,      kNan,  kNan, -kInfinity,
                              kInfinity, -0.0f, 0.0f, std::numeric_limits<float>::lowest()};
    if (problem.numbers == TopKNumbers::kManyTies) number = std::floor(number / 4);
    if (problem.numbers == TopKNumbers::kAllEqual) number = 3;
    if (problem.numbers == TopKNumbers::kExtremes && k % 3 != 0) number = extremes[made.random() / 7 % 8];
    if (problem.numbers == TopKNumbers::kFewNumbers && k % 300 != 299) number = kNan;
  }
  made.Node(TopK{problem.k}, {made.input()});
  const ValueId found = made.graph.AddValue({.name = "positions", .desc = {.dtype = DType::kInt32}});
  made.graph.nodes().back().outputs.push_back(found);
  if (positions) made.Node(Cast{}, {found});  // below 1001: exact as floats, in 16 bits too
  return made;
}

class TopKOnDevices : public testing::OnDevice {
 protected:
  // By the kernel that the rule leads to.
  void ExpectTheReferences(const char* rule, Precision precision) {
    opened_.info.forced_rules = ForcedRulesFromText(rule).value();
    for (const TopKProblem& problem : kTopKProblems) {
      for (const bool positions : {false, true}) {
        SCOPED_TRACE(std::string(problem.name) + (positions ? ", positions, " : ", values, ") + rule);
        OneInputGraph made = TopKGraph(problem, positions);
        if (precision == Precision::kFp16) {
          for (float& number : made.x) number = std::round(number * 16) / 16;  // exact in 16 bits, or infinite
          if (problem.numbers == TopKNumbers::kExtremes) continue;             // the lowest float has no place there
        }
        const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, precision);
        ASSERT_TRUE(answers.ok()) << answers.status().message();
        ASSERT_EQ(answers->device.size(), answers->reference.size());
        for (size_t k = 0; k < answers->device.size(); ++k) {
          const auto expected = static_cast<float>(answers->reference[k]);
          const bool is_same = std::isnan(expected)
                                   ? std::isnan(answers->device[k])
                                   : std::bit_cast<uint32_t>(expected) == std::bit_cast<uint32_t>(answers->device[k]);
          ASSERT_TRUE(is_same) << "rank " << k << ": " << answers->device[k] << ", expected " << expected;
        }
      }
    }
  }
};

TEST_P(TopKOnDevices, AWorkItemForEachPixelFindsTheReferences) {
  ExpectTheReferences("+one_item_sums", Precision::kFp32);
}

TEST_P(TopKOnDevices, AGroupForEachPixelFindsTheReferences) {
  ExpectTheReferences("-one_item_sums", Precision::kFp32);
}

TEST_P(TopKOnDevices, AGroupFindsTheReferencesIn16BitStorage) {
  if (!opened_.info.fp16_storage) GTEST_SKIP() << opened_.id << " stores no 16-bit numbers";
  ExpectTheReferences("-one_item_sums", Precision::kFp16);
}

INSTANTIATE_TEST_SUITE_P(Devices, TopKOnDevices, ::testing::Values("opencl", "vulkan", "gles"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
