#include "benchmarks/device_peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/error.h"
#include "core/emit/kernel_library.h"
#include "hal/device/stopwatch.h"

namespace hearth {
namespace {

// x * s + c in CHAINS independent chains. The result is stored, so that the compiler removes nothing.
constexpr char kFma4[] = R"(
@read x
@write y
@int TURNS
@float S
@define CHAINS 8
@local 8 1 1
---
  int at = GID(0);
  float4 c = x_load(at);
  float4 acc[CHAINS];
  UNROLL for (int i = 0; i < CHAINS; ++i) acc[i] = c * to_float(i);
  for (int k = 0; k < TURNS; ++k) {
    UNROLL for (int i = 0; i < CHAINS; ++i) acc[i] = acc[i] * S + c;
  }
  float4 sum = splat4(0.0f);
  UNROLL for (int i = 0; i < CHAINS; ++i) sum += acc[i];
  y_store(at, sum)
)";
constexpr char kFma16[] = R"(
@read x wide
@write y wide
@int TURNS
@float S
@define CHAINS 6
@local 8 1 1
---
  int at = GID(0);
  float16 c = x_load16(at);
  float16 acc[CHAINS];
  UNROLL for (int i = 0; i < CHAINS; ++i) acc[i] = c * to_float(i);
  for (int k = 0; k < TURNS; ++k) {
    UNROLL for (int i = 0; i < CHAINS; ++i) acc[i] = acc[i] * S + c;
  }
  float16 sum = splat16(0.0f);
  UNROLL for (int i = 0; i < CHAINS; ++i) sum += acc[i];
  y_store16(at * 4, 1, 4, sum)
)";
// Work items of a group read neighbouring texels, which suits GPUs and llvmpipe.
constexpr char kReadInTurn[] = R"(
@read x
@write y
@int READS
@local 8 1 1
---
  int at = WGID(0) * READS * 8 + LID(0);
  float4 a = splat4(0.0f);
  float4 b = splat4(0.0f);
  for (int k = 0; k < READS; k += 2) {
    a += x_load(at + k * 8);
    b += x_load(at + k * 8 + 8);
  }
  y_store(GID(0), a + b)
)";
// Each work item reads its own stretch, 16 numbers at a time, which suits CPU drivers.
constexpr char kReadStretch[] = R"(
@read x wide
@write y wide
@int READS
@local 8 1 1
---
  int at = GID(0) * (READS / 4);
  float16 a = splat16(0.0f);
  float16 b = splat16(0.0f);
  for (int k = 0; k < READS / 4; k += 2) {
    a += x_load16(at + k);
    b += x_load16(at + k + 1);
  }
  a += b;
  y_store16(GID(0) * 4, 1, 4, a)
)";

// As many work items as take a GPU some milliseconds, so that the time of a submission does not count.
constexpr uint64_t kFewestFmaItems = 1u << 12, kMostFmaItems = 1u << 20;
constexpr double kLongEnoughMs = 4;
constexpr uint32_t kFmaTurns = 2048;
constexpr uint64_t kCachedBytes = 16u << 20, kMemoryBytes = 128u << 20, kMostMemoryBytes = 1u << 30;
constexpr uint32_t kReadsPerItem = 256;
constexpr double kLeastMs = 100;

// Milliseconds of the fastest run: a driver's peak, undisturbed by other load.
Result<double> BestRun(Device& device, const KernelSource& source, uint64_t items, uint64_t read_bytes,
                       uint64_t written_bytes, const std::vector<uint32_t>& scalars) {
  HEARTH_ASSIGN(const std::unique_ptr<ProgramGroup> group, device.Compile({&source, 1}));
  HEARTH_ASSIGN(const std::unique_ptr<Buffer> x, device.CreateBuffer(read_bytes));
  HEARTH_ASSIGN(const std::unique_ptr<Buffer> y, device.CreateBuffer(written_bytes));
  HEARTH_TRY(device.Write(*x, 0, read_bytes, [](std::span<std::byte> memory) {
    std::memset(memory.data(), 0, memory.size());
    return Status::Ok();
  }));
  CommandList list;
  list.commands.emplace_back(DispatchCommand{group->programs()[0].get(),
                                             {{x.get(), 0, read_bytes}, {y.get(), 0, written_bytes}},
                                             scalars,
                                             {static_cast<uint32_t>(items / source.local_size[0]), 1, 1},
                                             source.name});
  HEARTH_ASSIGN(const std::unique_ptr<Executable> executable, device.Prepare(list));
  HEARTH_TRY(executable->Run());  // some drivers compile at the first run
  double best_ms = 0;
  const Stopwatch total;
  for (int run = 0; run < 3 || total.milliseconds() < kLeastMs; ++run) {
    const Stopwatch watch;
    HEARTH_TRY(executable->Run());
    const double took_ms = watch.milliseconds();
    best_ms = run == 0 ? took_ms : std::min(best_ms, took_ms);
  }
  return best_ms;
}

Status MeasureFlops(Device& device, bool wide, int chains, DevicePeaks& peaks) {
  HEARTH_ASSIGN(KernelSource source, ParseKernel(wide ? "peak_fma16" : "peak_fma4", wide ? kFma16 : kFma4));
  HEARTH_TRY(SetDefine(source, "CHAINS", std::to_string(chains)));
  const uint64_t width = wide ? 16 : 4;
  double best_ms = 0;
  for (uint64_t items = kFewestFmaItems; items <= kMostFmaItems && best_ms < kLongEnoughMs; items *= 4) {
    const uint64_t bytes = items * width * sizeof(float);
    HEARTH_ASSIGN(best_ms, BestRun(device, source, items, bytes, bytes, {kFmaTurns, std::bit_cast<uint32_t>(0.5f)}));
    const double flops = 2.0 * static_cast<double>(items * kFmaTurns * width) * chains / (best_ms * 1e-3);
    if (flops <= peaks.flops) continue;
    peaks.flops = flops;
    peaks.flops_variant = fmt::format("float{}, {} chains", width, chains);
  }
  return Status::Ok();
}

Status MeasureReads(Device& device, bool stretch, AccessPath path, uint64_t wanted_bytes, ReadPeak& peak) {
  HEARTH_ASSIGN(KernelSource source,
                ParseKernel(stretch ? "peak_read_stretch" : "peak_read_in_turn", stretch ? kReadStretch : kReadInTurn));
  source.tensors[0].path = path;
  const uint64_t limit = path == AccessPath::kTexelBuffer
                             ? std::min(device.info().max_buffer_bytes, device.info().max_texel_elements * 16)
                             : device.info().max_buffer_bytes;
  const uint64_t items = std::min(wanted_bytes, limit) / (16 * kReadsPerItem) / 8 * 8;
  const uint64_t bytes = items * kReadsPerItem * 16;
  HEARTH_ASSIGN(const double best_ms,
                BestRun(device, source, items, bytes, items * (stretch ? 64 : 16), {kReadsPerItem}));
  const double rate = static_cast<double>(bytes) / (best_ms * 1e-3);
  if (rate > peak.bytes_per_second) peak = {rate, path == AccessPath::kTexelBuffer ? "texel" : "buffer"};
  const bool is_short = best_ms < 1 && wanted_bytes >= kMemoryBytes && wanted_bytes < std::min(limit, kMostMemoryBytes);
  return is_short ? MeasureReads(device, stretch, path, wanted_bytes * 2, peak) : Status::Ok();
}

}  // namespace

Result<DevicePeaks> MeasurePeaks(Device& device) {
  DevicePeaks peaks;
  for (int chains : {8, 16}) HEARTH_TRY(MeasureFlops(device, false, chains, peaks));
  for (int chains : {6, 12}) HEARTH_TRY(MeasureFlops(device, true, chains, peaks));
  for (const auto& [bytes, peak] : {std::pair(kCachedBytes, &peaks.cached), std::pair(kMemoryBytes, &peaks.memory)}) {
    for (bool stretch : {false, true}) {
      HEARTH_TRY(MeasureReads(device, stretch, AccessPath::kBuffer, bytes, *peak));
      if (device.info().max_texel_elements < (1u << 16)) continue;
      // A driver that refuses texel reads is measured with buffers only.
      const Status status = MeasureReads(device, stretch, AccessPath::kTexelBuffer, bytes, *peak);
      if (status.code() == StatusCode::kDeviceLost) return status;
    }
  }
  return peaks;
}

}  // namespace hearth
