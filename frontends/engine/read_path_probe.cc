#include "frontends/engine/read_path_probe.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "core/kernel_library.h"
#include "core/options.h"
#include "hal/stopwatch.h"

namespace hearth {
namespace {

constexpr int kProbeVersion = 2;
constexpr double kMargin = 2.0;
constexpr int kSamples = 5;
constexpr uint64_t kTexels = 1u << 16;  // 1 MiB: what every texel buffer takes
constexpr int kReadsPerItem = 32;
constexpr uint64_t kItems = kTexels / 8;

struct ProbeAnswer {
  double buffer_ms = 0, texel_ms = 0;
};

Result<double> MeasurePath(Device& device, AccessPath path) {
  HEARTH_ASSIGN(KernelSource source, LoadKernel("probe_read"));
  source.tensors[0].path = path;
  HEARTH_ASSIGN(const std::unique_ptr<ProgramGroup> group, device.Compile({&source, 1}));
  // A part of a buffer, as the arena's tensors are: rusticl reads a whole buffer through texels but not a part of one.
  const uint64_t size_bytes = kTexels * 16;
  HEARTH_ASSIGN(const std::unique_ptr<Buffer> x, device.CreateBuffer(2 * size_bytes));
  HEARTH_ASSIGN(const std::unique_ptr<Buffer> y, device.CreateBuffer(kItems * 16));
  HEARTH_TRY(device.Write(*x, 0, x->size_bytes(), [](std::span<std::byte> memory) {
    std::memset(memory.data(), 0, memory.size());
    return Status::Ok();
  }));
  DispatchCommand command{group->programs()[0].get(),
                          {{x.get(), size_bytes, size_bytes}, {y.get(), 0, y->size_bytes()}},
                          {static_cast<uint32_t>(kTexels), kReadsPerItem},
                          {static_cast<uint32_t>(kItems / source.local_size[0]), 1, 1},
                          "probe"};
  CommandList list;
  list.commands.emplace_back(std::move(command));
  HEARTH_ASSIGN(const std::unique_ptr<Executable> executable, device.Prepare(list));
  HEARTH_TRY(executable->Run());  // compiles on drivers that wait for the first run
  double best_ms = 1e9;
  for (int k = 0; k < kSamples; ++k) {
    const Stopwatch watch;
    HEARTH_TRY(executable->Run());
    best_ms = std::min(best_ms, watch.milliseconds());
  }
  return best_ms;
}

Result<ProbeAnswer> Measure(Device& device) {
  ProbeAnswer answer;
  HEARTH_ASSIGN(answer.buffer_ms, MeasurePath(device, AccessPath::kBuffer));
  const Result<double> texel_ms = MeasurePath(device, AccessPath::kTexelBuffer);
  // A driver may promise texel buffers and then refuse to read through them: then they are never the faster way.
  answer.texel_ms = texel_ms.ok() ? *texel_ms : std::numeric_limits<double>::infinity();
  return answer;
}

}  // namespace

Status TryTexelReads(Device& device) {
  return MeasurePath(device, AccessPath::kTexelBuffer).status();
}

CacheKey ReadPathProbeKey(const DeviceInfo& info) {
  CacheKey key(BlobKind::kProbe);
  key.Add("probe", kProbeVersion).Add("backend", BackendName(info.backend)).Add("device", info.name);
  key.Add("driver", info.driver_version).Add("uuid", info.uuid).Add("emitter", kEmitterVersion);
  return key;
}

std::optional<AccessPath> ProbedReadPath(const DeviceInfo& info, BlobStore& store) {
  if (info.max_texel_elements < kTexels) return std::nullopt;
  const auto bytes = store.Get(ReadPathProbeKey(info));
  ProbeAnswer answer;
  if (!bytes || bytes->size() != sizeof(answer)) return std::nullopt;
  std::memcpy(&answer, bytes->data(), sizeof(answer));
  if (answer.buffer_ms > kMargin * answer.texel_ms) return AccessPath::kTexelBuffer;
  if (answer.texel_ms > kMargin * answer.buffer_ms) return AccessPath::kBuffer;
  return std::nullopt;
}

void ProbeReadPathOnce(Device& device, BlobStore& store) {
  const CacheKey key = ReadPathProbeKey(device.info());
  if (device.info().max_texel_elements < kTexels || store.Get(key)) return;
  const Stopwatch watch;
  const Result<ProbeAnswer> answer = Measure(device);
  if (!answer.ok()) return;
  const PutRequest put{&key, std::as_bytes(std::span(&answer.value(), 1)), watch.milliseconds()};
  store.Put({&put, 1});
}

}  // namespace hearth
