#include "backends/vulkan/spirv_matrix_types.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace hearth::vulkan {
namespace {

constexpr size_t kFirstInstruction = 5;
constexpr uint32_t kTypeVoid = 19, kTypeFloat = 22, kTypeMatrix = 4456;

using Instruction = std::span<const uint32_t>;

uint32_t OpcodeOf(Instruction instruction) {
  return instruction[0] & 0xffff;
}

// A module that glslang made: no instruction ends outside of it.
std::vector<Instruction> InstructionsOf(const std::vector<uint32_t>& words) {
  std::vector<Instruction> instructions;
  for (size_t at = kFirstInstruction; at < words.size(); at += words[at] >> 16)
    instructions.push_back(std::span(words).subspan(at, words[at] >> 16));
  return instructions;
}

}  // namespace

bool CompleteMatrixTypes(std::vector<uint32_t>& words) {
  const std::vector<Instruction> instructions = InstructionsOf(words);
  if (std::ranges::find(instructions, kTypeMatrix, OpcodeOf) == instructions.end()) return true;
  std::map<uint32_t, uint32_t> float_of_bits;
  std::vector<uint32_t> floats, completed(words.begin(), words.begin() + kFirstInstruction);
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

}  // namespace hearth::vulkan
