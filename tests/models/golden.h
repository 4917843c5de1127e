// Models with recorded answers: reading their manifests and judging outputs against them.
#ifndef HEARTH_TESTS_MODELS_GOLDEN_H_
#define HEARTH_TESTS_MODELS_GOLDEN_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace hearth::testing {

struct GoldenTensor {
  std::string name;
  std::vector<std::byte> bytes;  // as the model takes or gives them
  double peer_max_abs_diff = 0;  // of outputs: how far an independent runtime lies off
};

struct Golden {
  std::filesystem::path model;
  std::vector<GoldenTensor> inputs, outputs;
};

// Reads a manifest, whose "model" is relative to `root`; of a list of goldens the first. Aborts on a broken manifest:
// ours to mend.
Golden ReadGolden(const std::filesystem::path& root, const std::filesystem::path& manifest);

// The largest difference between two arrays of floats, and what is allowed in fp32: 1e-4 of the larger of 1
// and the golden's largest magnitude, or three times the peer's distance where that is more.
struct Distance {
  double max_abs = 0, allowed = 0;
};
Distance CompareFloats(const std::vector<std::byte>& golden, double peer_max_abs_diff, const std::byte* actual);

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_MODELS_GOLDEN_H_
