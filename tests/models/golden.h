// Models with recorded answers: reading their manifests and judging outputs against them.
#ifndef HEARTH_TESTS_MODELS_GOLDEN_H_
#define HEARTH_TESTS_MODELS_GOLDEN_H_

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace hearth::testing {

struct GoldenTensor {
  std::string name;
  std::vector<std::byte> bytes;  // as the model takes or gives them
  std::string dtype;             // "float32", "uint8", "int8"
  double peer_max_abs_diff = 0;  // of outputs: how far an independent runtime lies off
};

struct Golden {
  std::filesystem::path model;
  std::vector<GoldenTensor> inputs, outputs;
};

// Reads a manifest, whose "model" is relative to `root`; of a list of goldens the first. Aborts on a broken manifest:
// ours to mend.
Golden ReadGolden(const std::filesystem::path& root, const std::filesystem::path& manifest);

// Why an output does not agree with its golden; empty when it does. Floats: no element is further off than
// `relative` (1e-4 in fp32, 2e-2 in fp16) of the larger of 1 and the golden's largest magnitude, or than three times
// the peer's distance where that is more. Quantized: 99 % of the elements within 2 steps, or none further off than
// twice the peer; and the highest element is, by the golden, one of the highest.
std::string Disagreement(const GoldenTensor& golden, std::span<const std::byte> actual, double relative);

// Which detections come last in a list of the best ones is decided by less than runtimes differ. Where the golden is
// such a list of a quantized network (boxes, classes, scores, count), takes `classes` over for detections whose score
// lies within twice the peer's distance of the lowest one.
void TakeOverLastClasses(Golden& golden, std::span<const std::byte> classes);

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_MODELS_GOLDEN_H_
