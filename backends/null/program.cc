#include "backends/null/program.h"

#include <string_view>

#include "core/base/error.h"
#include "core/base/text_bytes.h"
#include "hal/entry_points.h"

namespace hearth {
namespace {

// Checks the only thing that needs no driver: that the brackets of a text are in pairs.
bool BracketsMatch(std::string_view text) {
  std::string open;
  for (const char c : text) {
    constexpr std::string_view kOpening = "([{", kClosing = ")]}";
    if (kOpening.find(c) != std::string_view::npos) open.push_back(c);
    const size_t closing = kClosing.find(c);
    if (closing == std::string_view::npos) continue;
    if (open.empty() || open.back() != kOpening[closing]) return false;
    open.pop_back();
  }
  return open.empty();
}

}  // namespace

Result<std::unique_ptr<ProgramGroup>> NullProgramGroup::Compile(std::span<const KernelSource> sources) {
  std::unique_ptr<NullProgramGroup> group(new NullProgramGroup);
  for (const KernelSource& source : sources) {
    if (!BracketsMatch(source.body))
      return Error(StatusCode::kUnavailable, "kernel {}: its brackets are unbalanced", source.name);
    group->entry_points_ += EntryPoint(source) + '\n';
    group->programs_.push_back(std::make_unique<Program>(source));
  }
  return std::unique_ptr<ProgramGroup>(std::move(group));
}

Result<std::unique_ptr<ProgramGroup>> NullProgramGroup::Load(std::span<const KernelSource> sources,
                                                             std::span<const std::byte> binary) {
  HEARTH_ASSIGN(std::unique_ptr<ProgramGroup> group, Compile(sources));
  HEARTH_ASSIGN(const std::vector<std::byte> expected, group->Binary());
  if (!HoldsLines(TextFrom(binary), TextFrom(expected))) {
    return Error(StatusCode::kMalformedInput, "the binary was made for other kernels");
  }
  return group;
}

Result<std::vector<std::byte>> NullProgramGroup::Binary() {
  const auto* start = reinterpret_cast<const std::byte*>(entry_points_.data());
  return std::vector<std::byte>(start, start + entry_points_.size());
}

}  // namespace hearth
