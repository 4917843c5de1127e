// What the LiteRT interpreter answered to the models of models.zip, and how far another answer may lie off.
#ifndef HEARTH_TESTS_ORACLE_ANSWERS_H_
#define HEARTH_TESTS_ORACLE_ANSWERS_H_

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/graph/types.h"

namespace hearth::oracle {

struct Answer {  // one output
  std::vector<std::byte> bytes;
  DType dtype = DType::kFloat32;
  double peer_distance = 0;  // between the interpreter's reference and optimized kernels
};

// Tolerance classes of the manifest, for float and for integer outputs:
//   exact      the same numbers
//   moved      floats the same; quantized numbers within 1 step
//   float      within 1e-4 of the larger of 1 and the largest magnitude; integers the same
//   quantized  within 2 steps (or the manifest's `steps`, with its reason in cases_*.py) beyond what the interpreter's
//   own kernels differ by; floats as `float` hybrid     `float`, and what rounding activations to 8 bits costs the
//   interpreter (run_interpreter.py derives it)
struct AnsweredModel {
  std::string file, family, shows, tolerance;
  int runs = 1;  // the answers are those of the last one
  double hybrid_error = 0, steps = 2;
  std::vector<std::vector<std::byte>> inputs;
  std::vector<Answer> outputs;
};

// Reads expected.json and expected.bin of `folder`, models of `family` only. Aborts on files that are not what
// run_interpreter.py writes.
std::vector<AnsweredModel> ReadAnswers(const std::filesystem::path& folder, const std::string& family);

// Why `actual` does not agree with output `k`; empty when it does.
std::string Disagreement(const AnsweredModel& model, size_t k, std::span<const std::byte> actual);

}  // namespace hearth::oracle

#endif  // HEARTH_TESTS_ORACLE_ANSWERS_H_
