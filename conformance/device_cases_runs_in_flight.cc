// Submitting without waiting, and the caller's memory, as far as all backends behave alike.
#include <cstring>

#include "conformance/device_case_support.h"
#include "conformance/device_cases.h"
#include "core/base/error.h"

namespace hearth::conformance {
namespace {

constexpr uint64_t kTexels = 4096;
constexpr uint64_t kBytes = kTexels * 16;

Status FillWith(Device& device, Buffer& buffer, float value) {
  return device.Write(buffer, 0, kBytes, [&](std::span<std::byte> room) {
    for (size_t at = 0; at < room.size(); at += sizeof value) std::memcpy(&room[at], &value, sizeof value);
    return Status::Ok();
  });
}

Status HoldsOnly(Device& device, const Buffer& buffer, float value) {
  return device.Read(buffer, 0, kBytes, [&](std::span<const std::byte> bytes) -> Status {
    for (size_t at = 0; at < bytes.size(); at += sizeof value) {
      float seen = 0;
      std::memcpy(&seen, &bytes[at], sizeof seen);
      if (seen != value) return Error(StatusCode::kInternal, "number {} is {}, expected {}", at / 4, seen, value);
    }
    return Status::Ok();
  });
}

// Two buffers, a list that adds one from the first to the second, and a list for the way back.
struct PingPong {
  std::unique_ptr<ProgramGroup> group;
  std::unique_ptr<Buffer> a, b;
  std::unique_ptr<Executable> forth, back;
};

Result<PingPong> MakePingPong(Device& device) {
  PingPong made;
  const KernelSource source = UnaryKernel(device, "add_one", 16, "y_store(GID(0), x_load(GID(0)) + splat4(1.0f));\n");
  HEARTH_ASSIGN(made.group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(made.a, device.CreateBuffer(kBytes));
  HEARTH_ASSIGN(made.b, device.CreateBuffer(kBytes));
  const auto list = [&](Buffer& from, Buffer& to) {
    return CommandList{{DispatchOf(*made.group->programs()[0], {Whole(from), Whole(to)}, {}, kTexels)}};
  };
  HEARTH_ASSIGN(made.forth, device.Prepare(list(*made.a, *made.b)));
  HEARTH_ASSIGN(made.back, device.Prepare(list(*made.b, *made.a)));
  return made;
}

Status SubmissionsRunInTheirOrder(Device& device) {
  HEARTH_ASSIGN(const PingPong lists, MakePingPong(device));
  HEARTH_TRY(FillWith(device, *lists.a, 1.0f));
  uint64_t last = 0;
  for (int turn = 0; turn < 20; ++turn) {
    HEARTH_ASSIGN(const uint64_t forth, lists.forth->Submit());
    HEARTH_ASSIGN(const uint64_t back, lists.back->Submit());
    HEARTH_TRY(Check(forth > last && back > forth, "numbers of submissions grow"));
    last = back;
  }
  HEARTH_TRY(lists.forth->Wait(last));
  HEARTH_TRY(HoldsOnly(device, *lists.a, 41.0f));
  return HoldsOnly(device, *lists.b, 40.0f);
}

Status AnEarlierSubmissionIsReadWhileLaterOnesRun(Device& device) {
  HEARTH_ASSIGN(const PingPong first, MakePingPong(device));
  HEARTH_ASSIGN(const PingPong second, MakePingPong(device));
  HEARTH_TRY(FillWith(device, *first.a, 5.0f));
  HEARTH_TRY(FillWith(device, *second.a, 7.0f));
  HEARTH_ASSIGN(const uint64_t early, first.forth->Submit());
  HEARTH_ASSIGN(const uint64_t late, second.forth->Submit());
  HEARTH_TRY(first.forth->Wait(early));
  HEARTH_TRY(HoldsOnly(device, *first.b, 6.0f));
  HEARTH_TRY(second.forth->Wait(late));
  HEARTH_TRY(HoldsOnly(device, *second.b, 8.0f));
  return first.forth->Wait(early);  // waiting twice is allowed
}

Status ASubmissionIsFinishedBeforeItsExecutableGoes(Device& device) {
  HEARTH_ASSIGN(PingPong lists, MakePingPong(device));
  HEARTH_TRY(FillWith(device, *lists.a, 1.0f));
  HEARTH_TRY(lists.forth->Submit().status());
  lists.forth.reset();
  return HoldsOnly(device, *lists.b, 2.0f);
}

Status ASubmissionThatNeverWasIsRefused(Device& device) {
  HEARTH_ASSIGN(const PingPong lists, MakePingPong(device));
  HEARTH_ASSIGN(const uint64_t last, lists.forth->Submit());
  HEARTH_TRY(Check(!lists.forth->Wait(last + 1).ok(), "a wait for the next submission"));
  return lists.forth->Wait(last);
}

// The kinds that a backend imports are tested with it; no backend imports all of them.
Status MemoryThatIsNoneIsNotImported(Device& device) {
  int refused = 0;
  for (const MemoryKind kind : {MemoryKind::kHost, MemoryKind::kGlBuffer, MemoryKind::kGlTexture,
                                MemoryKind::kVulkanBuffer, MemoryKind::kClBuffer}) {
    const NativeMemory nothing{.kind = kind, .handle = 0, .size_bytes = 64, .width = 4, .height = 1};
    HEARTH_TRY(Check(device.ImportBuffer(nothing).status().code() == StatusCode::kInvalidArgument, "a null handle"));
    NativeMemory empty = nothing;
    empty.handle = 1;
    empty.size_bytes = empty.width = 0;
    HEARTH_TRY(Check(device.ImportBuffer(empty).status().code() == StatusCode::kInvalidArgument, "an empty object"));
    if (kind == MemoryKind::kVulkanBuffer || kind == MemoryKind::kClBuffer) continue;  // 1 is not a pointer
    if (kind == MemoryKind::kHost) continue;
    NativeMemory unknown = nothing;
    unknown.handle = 123456789;
    const StatusCode code = device.ImportBuffer(unknown).status().code();
    refused += code == StatusCode::kUnsupported || code == StatusCode::kInvalidArgument ? 1 : 0;
  }
  return Check(refused == 2, "a GL name that nobody made");
}

constexpr DeviceCase kRunsInFlightCases[] = {
    HEARTH_DEVICE_CASE(SubmissionsRunInTheirOrder), HEARTH_DEVICE_CASE(AnEarlierSubmissionIsReadWhileLaterOnesRun),
    HEARTH_DEVICE_CASE(ASubmissionIsFinishedBeforeItsExecutableGoes),
    HEARTH_DEVICE_CASE(ASubmissionThatNeverWasIsRefused), HEARTH_DEVICE_CASE(MemoryThatIsNoneIsNotImported)};

}  // namespace

std::span<const DeviceCase> RunsInFlightCases() {
  return kRunsInFlightCases;
}

}  // namespace hearth::conformance
