#include "tests/testing/fake_backends.h"

#include "backends/cpu/backend.h"

namespace hearth::testing {
namespace {

template <std::vector<FakeDevice> FakeBackends::*kRow>
std::vector<DeviceCandidate> Enumerate() {
  std::vector<DeviceCandidate> candidates;
  for (const FakeDevice& device : TheFakeBackends().*kRow) {
    DeviceCandidate candidate;
    candidate.backend = kRow == &FakeBackends::first ? "first" : "second";
    candidate.name = device.name;
    candidate.type = device.type;
    candidate.usable = device.unusable_reason.empty();
    candidate.unusable_reason = device.unusable_reason;
    candidate.driver_index = static_cast<int>(candidates.size());
    candidates.push_back(candidate);
  }
  return candidates;
}

template <std::vector<FakeDevice> FakeBackends::*kRow>
Result<std::unique_ptr<Device>> Open(const DeviceCandidate& candidate) {
  return (TheFakeBackends().*kRow)[static_cast<size_t>(candidate.driver_index)].open();
}

Result<std::unique_ptr<Device>> OpenNothing(const SharedContext&) {
  return Status(StatusCode::kInvalidArgument, "a fake backend shares nothing");
}

bool SharesNothing(const SharedContext&) {
  return false;
}

constexpr BackendDef kRows[] = {
    {"first", Enumerate<&FakeBackends::first>, Open<&FakeBackends::first>, OpenNothing, SharesNothing},
    {"second", Enumerate<&FakeBackends::second>, Open<&FakeBackends::second>, OpenNothing, SharesNothing},
    {kHostBackend, EnumerateCpu, OpenCpu, nullptr, nullptr},
};

}  // namespace

FakeBackends& TheFakeBackends() {
  static FakeBackends backends;
  return backends;
}

std::span<const BackendDef> FakeBackendRows() {
  return kRows;
}

}  // namespace hearth::testing
