#include "runtime/devices/read_path_probe.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/device/device_rules.h"
#include "core/device/group_size.h"
#include "core/emit/kernel_library.h"
#include "core/plan/key_fields.h"
#include "hal/device/stopwatch.h"
#include "hal/programs/smaller_groups.h"

namespace hearth {

namespace {

constexpr double kMargin = 2.0;
constexpr int kSamples = 5;
constexpr uint64_t kTexels = 1u << 16;  // 1 MiB: every device's texel buffers hold that
constexpr int kReadsPerItem = 64;       // 64 MiB of reads in all
constexpr uint64_t kItems = kTexels;

struct ProbeAnswer {
  double buffer_ms = 0, texel_ms = 0;
};

// The probe's kernel, prepared for one path. Members are ordered so that the executable is destroyed first.
struct PreparedProbe {
  std::unique_ptr<ProgramGroup> group;
  std::unique_ptr<Buffer> x, y;
  std::unique_ptr<Executable> executable;
};

Result<PreparedProbe> PreparePath(Device& device, AccessPath path) {
  PreparedProbe probe;
  HEARTH_ASSIGN(KernelSource source, LoadKernel("probe_read"));
  source.tensors[0].path = path;
  DeviceInfo info = device.info();
  HEARTH_TRY(MakeInSmallerGroups(device, info, [&]() -> Status {
    source.local_size = FittingGroup(source.local_size, info);
    HEARTH_ASSIGN(probe.group, device.Compile({&source, 1}));
    return Status::Ok();
  }));
  // A part of a buffer, like the arena's tensors: rusticl reads a whole buffer through texels but not a part of one.
  const uint64_t size_bytes = kTexels * 16;
  HEARTH_ASSIGN(probe.x, device.CreateBuffer(2 * size_bytes));
  HEARTH_ASSIGN(probe.y, device.CreateBuffer(kItems * 16));
  HEARTH_TRY(device.Write(*probe.x, 0, probe.x->size_bytes(), [](std::span<std::byte> memory) {
    std::memset(memory.data(), 0, memory.size());
    return Status::Ok();
  }));
  DispatchCommand command{probe.group->programs()[0].get(),
                          {{probe.x.get(), size_bytes, size_bytes}, {probe.y.get(), 0, probe.y->size_bytes()}},
                          {static_cast<uint32_t>(kTexels), kReadsPerItem},
                          {static_cast<uint32_t>(kItems / source.local_size[0]), 1, 1},
                          "probe"};
  CommandList list;
  list.commands.emplace_back(std::move(command));
  HEARTH_ASSIGN(probe.executable, device.Prepare(list));
  HEARTH_TRY(probe.executable->Run());  // some drivers compile at the first run
  return probe;
}

// By the device's clock where it has one: submitting and waiting take longer than the reads.
Result<double> Sample(PreparedProbe& probe) {
  HEARTH_ASSIGN(const std::vector<double> times_ms, probe.executable->RunProfiled());
  return std::accumulate(times_ms.begin(), times_ms.end(), 0.0);
}

// The paths take turns, and one counts as faster only if it wins every turn by the margin; otherwise both get the same
// time. On a busy machine all samples of one path may be slow together.
Result<ProbeAnswer> Measure(Device& device) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  ProbeAnswer answer{kNever, kNever};
  HEARTH_ASSIGN(PreparedProbe buffer, PreparePath(device, AccessPath::kBuffer));
  // A driver may offer texel buffers and then refuse to read through them: the path then counts as slower.
  Result<PreparedProbe> texel = PreparePath(device, AccessPath::kTexelBuffer);
  int buffer_wins = 0, texel_wins = 0;
  for (int k = 0; k < kSamples; ++k) {
    HEARTH_ASSIGN(const double buffer_ms, Sample(buffer));
    double texel_ms = kNever;
    if (texel.ok()) {
      HEARTH_ASSIGN(texel_ms, Sample(*texel));
    }
    buffer_wins += texel_ms > kMargin * buffer_ms ? 1 : 0;
    texel_wins += buffer_ms > kMargin * texel_ms ? 1 : 0;
    answer.buffer_ms = std::min(answer.buffer_ms, buffer_ms);
    answer.texel_ms = std::min(answer.texel_ms, texel_ms);
  }
  if (std::max(buffer_wins, texel_wins) < kSamples) answer.texel_ms = answer.buffer_ms;
  return answer;
}

// On software drivers the rule was measured, and a simulated device reads as the real one would.
bool IsDecidedByProbe(const DeviceInfo& info) {
  const bool is_known = info.is_software() || !info.simulates.empty() || IsForced(Rule::kTexelReads, info);
  return !is_known && info.max_texel_elements >= kTexels;
}

Result<ProbeAnswer> AnswerFrom(const ReadPathRequest& /*request*/, const StoredEntry& entry) {
  ProbeAnswer answer;
  if (entry.bytes.size() != sizeof(answer)) return Error(StatusCode::kMalformedInput, "it is not two times");
  std::memcpy(&answer, entry.bytes.data(), sizeof(answer));
  return answer;
}

Result<ProbeAnswer> NotMeasured(const ReadPathRequest& /*request*/) {
  return Error(StatusCode::kUnavailable, "the answer would not be kept");
}

Result<ProbeAnswer> MeasureNow(const ReadPathRequest& request) {
  return Measure(*request.opened.value);
}

std::optional<AccessPath> FasterPath(const ProbeAnswer& answer) {
  if (answer.buffer_ms > kMargin * answer.texel_ms) return AccessPath::kTexelBuffer;
  if (answer.texel_ms > kMargin * answer.buffer_ms) return AccessPath::kBuffer;
  return std::nullopt;
}

}  // namespace

Status TryTexelReads(Device& device) {
  Status by_texels = PreparePath(device, AccessPath::kTexelBuffer).status();
  if (by_texels.ok()) return by_texels;
  return PreparePath(device, AccessPath::kBuffer).ok() ? by_texels : Status::Ok();
}

std::optional<AccessPath> KnownReadPath::LookUp(const DeviceInfo& info, ResultCache& cache) {
  if (std::exchange(is_looked_up_, true)) return path_;
  is_final_ = !IsDecidedByProbe(info);
  if (is_final_) return path_;
  const ReadPathRequest request{&info};
  const auto parse = [&](const StoredEntry& entry) { return AnswerFrom(request, entry); };
  if (const auto found = cache.Find(request, parse, Misses::kUncounted)) {  // Probe counts
    path_ = FasterPath(found->value);
    is_final_ = true;
  }
  return path_;
}

std::optional<AccessPath> KnownReadPath::Probe(Device& device, const DeviceInfo& info, ResultCache& cache) {
  LookUp(info, cache);
  if (is_final_) return path_;
  const ReadPathRequest request{.device = &info, .opened = {&device}};
  const auto measured = GetOrMake(&cache, request, AnswerFrom, cache.is_read_only() ? NotMeasured : MeasureNow);
  if (measured.status().code() == StatusCode::kDeviceLost) return path_;
  is_final_ = true;
  // A missing compiler or full memory tells nothing about the driver: the next start asks again.
  if (!measured.ok()) return path_;
  const ProbeAnswer& answer = measured->value;
  if (!measured->found_as) cache.Put(request, std::as_bytes(std::span(&answer, 1)), measured->cost_ms);
  path_ = FasterPath(answer);
  return path_;
}

}  // namespace hearth
