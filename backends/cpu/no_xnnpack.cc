// Replaces xnnpack/ in builds with HEARTH_WITH_XNNPACK=OFF: takes no node.
#include "backends/cpu/xnnpack_nodes.h"

namespace hearth {

class XnnpackNodes::Pools {};

std::string_view HostKernelsName() {
  return "reference";
}

std::string_view WhyHostIsSlow() {
  return "";  // not slower than any build without XNNPACK
}

XnnpackNodes::XnnpackNodes() = default;
XnnpackNodes::~XnnpackNodes() = default;

Result<std::unique_ptr<HostNode>> XnnpackNodes::Make(const HostNodeRequest&) {
  return nullptr;
}

}  // namespace hearth
