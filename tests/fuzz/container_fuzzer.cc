// The containers in which drivers' binaries are stored.
#include <algorithm>

#include "backends/gles/program.h"
#include "backends/vulkan/program.h"
#include "core/store/entry_links.h"
#include "tests/fuzz/fuzzer.h"

namespace hearth {

void FuzzOne(std::span<const std::byte> bytes) {
  if (const auto binaries = gles::UnpackBinaries(bytes); binaries.ok()) {
    Expect(std::ranges::equal(gles::PackBinaries(*binaries), bytes), "binaries are packed as the same bytes");
  }
  if (const auto linked = LinkedEntryFrom(bytes); linked.ok()) {
    Expect(std::ranges::equal(ToBytes(*linked), bytes), "what leads to others is packed as the same bytes");
  }
  for (size_t module_count : {0, 1, 2}) {
    const auto container = vulkan::ParseContainer(bytes, module_count);
    if (!container.ok()) continue;
    Expect(std::ranges::equal(vulkan::Serialize(*container), bytes), "modules are packed as the same bytes");
  }
}

}  // namespace hearth
