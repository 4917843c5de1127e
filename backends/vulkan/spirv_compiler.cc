#include "backends/vulkan/spirv_compiler.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace hearth::vulkan {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr uint32_t kNewestVersion = 0x00010300;
constexpr size_t kHeaderWords = 5;  // magic, version, generator, id bound, schema

// --- types of cooperative matrices

constexpr uint32_t kTypeVoid = 19, kTypeFloat = 22, kTypeMatrix = 4456;

using Instruction = std::span<const uint32_t>;

uint32_t OpcodeOf(Instruction instruction) {
  return instruction[0] & 0xffff;
}

// A module that glslang made: no instruction ends outside of it.
std::vector<Instruction> InstructionsOf(const std::vector<uint32_t>& words) {
  std::vector<Instruction> instructions;
  for (size_t at = kHeaderWords; at < words.size(); at += words[at] >> 16)
    instructions.push_back(std::span(words).subspan(at, words[at] >> 16));
  return instructions;
}

// In each type of a cooperative matrix the text gave a number of bits where SPIR-V wants the type of an element
// (core/emit/dialect_texts.h). Puts the float type of that size there. Returns false if the module has none. Modules
// without such matrices stay as they are.
bool CompleteMatrixTypes(std::vector<uint32_t>& words) {
  const std::vector<Instruction> instructions = InstructionsOf(words);
  if (std::ranges::find(instructions, kTypeMatrix, OpcodeOf) == instructions.end()) return true;
  std::map<uint32_t, uint32_t> float_of_bits;
  std::vector<uint32_t> floats, completed(words.begin(), words.begin() + kHeaderWords);
  const auto append = [](std::vector<uint32_t>& to, Instruction from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const Instruction instruction : instructions) {
    if (OpcodeOf(instruction) != kTypeFloat) continue;
    float_of_bits[instruction[2]] = instruction[1];
    append(floats, instruction);
  }
  for (const Instruction instruction : instructions) {
    if (OpcodeOf(instruction) == kTypeFloat) continue;
    // Types stand before their uses. Floats need no other type, so they may be the first.
    if (OpcodeOf(instruction) == kTypeVoid) append(completed, floats);
    append(completed, instruction);
    if (OpcodeOf(instruction) != kTypeMatrix) continue;
    uint32_t& element = completed[completed.size() - instruction.size() + 2];
    const auto found = float_of_bits.find(element);
    if (found == float_of_bits.end()) return false;
    element = found->second;
  }
  words = std::move(completed);
  return true;
}

}  // namespace

std::string SpirvCompilerName() {
  return BuiltCompilerName();
}

Result<SpirvWords> CompileToSpirv(const std::string& glsl) {
  static const Result<HearthSpirvCompileFn> compile = FindSpirvCompileFunction();
  if (!compile.ok()) return compile.status();
  Result<SpirvWords> result = SpirvWords();
  const HearthSpirvReceiver receiver{
      .user = &result,
      .words = [](void* user, const uint32_t* words,
                  size_t count) { *static_cast<Result<SpirvWords>*>(user) = SpirvWords(words, words + count); },
      .error =
          [](void* user, const char* message) {
            *static_cast<Result<SpirvWords>*>(user) = Error(StatusCode::kUnavailable, "{}", message);
          }};
  (*compile)(glsl.c_str(), &receiver);
  if (result.ok() && !CompleteMatrixTypes(*result))
    return Error(StatusCode::kInternal, "no type for the elements of a shader's matrices");
  return result;
}

Status CheckSpirv(std::span<const uint32_t> words) {
  if (words.size() <= kHeaderWords || words[0] != kSpirvMagic || words[1] > kNewestVersion || words[3] == 0 ||
      words[4] != 0) {
    return Error(StatusCode::kMalformedInput, "not a SPIR-V module of version 1.3 or older");
  }
  size_t at = kHeaderWords;
  while (at < words.size()) {
    const size_t length = words[at] >> 16;  // length of the instruction in words, including this one
    if (length == 0 || length > words.size() - at) {
      return Error(StatusCode::kMalformedInput, "a SPIR-V instruction at word {} ends outside its module", at);
    }
    at += length;
  }
  return Status::Ok();
}

}  // namespace hearth::vulkan
