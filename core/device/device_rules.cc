#include "core/device/device_rules.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace hearth {
namespace {

bool Always(const DeviceInfo& /*device*/) {
  return true;
}

bool Never(const DeviceInfo& /*device*/) {
  return false;
}

bool IsSoftware(const DeviceInfo& device) {
  return device.is_software();
}

// PoCL and other OpenCL drivers that run on the CPU.
bool IsOpenClCpu(const DeviceInfo& device) {
  return device.is_software() && device.dialect == Dialect::kOpenCl;
}

// GLSL drivers that run on the CPU: llvmpipe, lavapipe, SwiftShader.
bool IsSoftwareGpu(const DeviceInfo& device) {
  return device.is_software() && device.dialect != Dialect::kOpenCl;
}

// A simulated GPU's programs run on a software driver all the same.
bool RunsOnSoftware(const DeviceInfo& device) {
  return device.is_software() || !device.simulates.empty();
}

bool IsOpenClOnSoftware(const DeviceInfo& device) {
  return device.dialect == Dialect::kOpenCl && RunsOnSoftware(device);
}

bool IsGlslOnSoftware(const DeviceInfo& device) {
  return device.dialect != Dialect::kOpenCl && RunsOnSoftware(device);
}

bool HasTexelBuffers(const DeviceInfo& device) {
  return device.dialect != Dialect::kOpenCl && device.max_texel_elements > 0;
}

bool IsOpenCl(const DeviceInfo& device) {
  return device.dialect == Dialect::kOpenCl;
}

bool HasWideRegisters(const DeviceInfo& device) {
  return device.native_vector_floats >= 16;
}

bool HasInt64(const DeviceInfo& device) {
  return device.dialect == Dialect::kVulkan && device.int64;
}

bool HasHalfArithmetic(const DeviceInfo& device) {
  return device.fp16_arithmetic && device.fp16_storage;
}

bool HasMatrices(const DeviceInfo& device) {
  return device.dialect == Dialect::kVulkan && device.matrix_shape[0] != 0 && device.fp16_arithmetic &&
         device.fp16_storage;
}

// AMD's and Mesa's drivers use names like "AMD Radeon RX 6800 (RADV NAVI21)" and "AMD Custom GPU 0405 (vangogh, LLVM
// 15.0.7)"; ROCm's OpenCL names the chip alone, "gfx1030". AMD's CPUs have none of these words.
bool IsAmdGpu(const DeviceInfo& device) {
  if (device.is_software()) return false;
  const std::string_view name = device.name;
  if (name.starts_with("gfx") && name.size() > 3 && '0' <= name[3] && name[3] <= '9') return true;
  return std::ranges::any_of(std::initializer_list<std::string_view>{"Radeon", "RADV", "AMD Custom GPU"},
                             [name](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

bool IsHardware(const DeviceInfo& device) {
  return !device.is_software();
}

// softpipe: the name of Mesa's software driver built without LLVM, in any case: a guest's driver may shout it.
bool IsSoftpipe(const DeviceInfo& device) {
  return LowerCase(device.name).find("softpipe") != std::string::npos;
}

bool HasSmallSubgroups(const DeviceInfo& device) {
  return device.subgroup_size >= 4 && device.subgroup_size <= 16;
}

// Times: 2-core machine, Zen 5, PoCL 3.1, Mesa 22.3.6 unless a row says otherwise. benchmarks/README.md has the tables.
constexpr DeviceRule kRules[] = {
    {Rule::kTexelReads, "texel_reads", "Kernels read tensors through texel buffers.",
     "llvmpipe, lavapipe: a load from a storage buffer is done for one work item at a time; a texel fetch is about 40 "
     "times faster",
     HasTexelBuffers, IsSoftware},
    {Rule::kWideVectors, "wide_vectors", "Matrix products and convolutions work on vectors of 16 floats.",
     "PoCL: 81 to 93 GFLOP/s on one thread where vectors of 4 reach half of that", IsOpenCl, IsOpenClCpu},
    {Rule::kWideRegisters, "wide_registers", "Wide kernels keep 10 rows of accumulators in registers of 512 bits.",
     "PoCL with AVX-512: 1.25 to 1.9 times as fast as 6 rows", Always, HasWideRegisters},
    {Rule::kWideStores, "wide_stores", "Kernels store a texel of floats as two integers of 64 bits.",
     "lavapipe: a store of 8 texels takes 60 cycles instead of 110, number by number, each within a check", HasInt64,
     IsSoftware},
    {Rule::kSubgroupWeights, "subgroup_weights", "The work items of a subgroup load weights once and pass them on.",
     "lavapipe: pointwise convolutions 1.3 to 1.4 times as fast", HasSmallSubgroups, IsSoftwareGpu},
    {Rule::kLargeTiles, "large_tiles", "A work item of a convolution makes 7 pixels of 4 texels.",
     "llvmpipe, lavapipe: a fetch is a call around which all registers are spilled; large tiles fetch less: 1.05 to "
     "1.3 "
     "times as fast as 8 pixels of 2 texels",
     Always, IsSoftwareGpu},
    {Rule::kCostlyGroups, "costly_groups", "Light kernels get work groups of 32 to 64 items.",
     "llvmpipe: a work group costs 0.25 us; padding 93 to 53, concatenation 2.8 to 1.1 ms", Always, IsSoftwareGpu},
    {Rule::kShortGroups, "short_groups", "Work groups have 8 items, as a vector has, instead of a wave's 32 or 64.",
     "PoCL, llvmpipe, lavapipe: a group runs on one core, so more items gain nothing", Always, IsSoftware},
    {Rule::kOneItemSums, "one_item_sums", "One work item sums up a pixel's channels, unless they are very many.",
     "softmax of 128x512: lavapipe 1.1 ms instead of 3.3 with 32 items; 2364x197: llvmpipe 8 instead of 53", Always,
     IsSoftware},
    {Rule::kOneItemRuns, "one_item_runs",
     "One work item normalizes a run of pixels; a lone pixel is a group of one item.",
     "PoCL: one core runs a whole work group, so sharing a run gains nothing", Always, IsOpenClCpu},
    {Rule::kFourPixelsEach, "four_pixels_each", "A work item normalizes the channels of four pixels at once.",
     "eight times 128x512: PoCL 0.48 ms instead of 1.2, lavapipe 0.84 instead of 1.0", Always, IsSoftware},
    {Rule::kTilesWithinLines, "tiles_within_lines", "Tiles of transposed convolutions end with their line.",
     "PoCL, llvmpipe: saves a division a pixel, which is not vectorized", Always, IsSoftware},
    {Rule::kMeansOfSmallWindows, "means_of_small_windows", "Average pooling of whole small images becomes a mean.",
     "PoCL, llvmpipe: one work item a channel walks over the window otherwise", Always, IsSoftware},
    {Rule::kLoopLimit, "loop_limit", "Nodes whose loops take over 60,000 turns in a work item run on the CPU.",
     "llvmpipe, lavapipe: loops end after 65,536 turns without a word; no query tells", Always, IsGlslOnSoftware},
    {Rule::kCostlyPrograms, "costly_programs",
     "Elementwise chains join the kernels before them only where that saves 8 dispatches for each program more.",
     "PoCL: a program more compiles in 65 to 350 ms; chains that joined take 0.72 to 0.98 of the time in eight "
     "networks "
     "(face_landmark 0.76, with 54 dispatches instead of 97)",
     Always, IsOpenClCpu},
    {Rule::kHalfArithmetic, "half_arithmetic",
     "In fp16 and fp32_16 convolutions of 64 or more channels multiply numbers of 16 bits, and in fp16 add up to 16 "
     "such, where activations and weights show that no such sum can leave 16 bits.",
     "RADV's compiler, Navi 21: a turn of pointwise_tile 4x2 takes 0.60 of the cycles that floats take in fp16, 0.98 "
     "in fp32_16; networks are off by as much as storing them in 16 bits makes them",
     HasHalfArithmetic, IsHardware},
    {Rule::kUnboundedHalves, "unbounded_halves",
     "Rule half_arithmetic also counts where nothing bounds the sums: those beyond 65504 are infinite.",
     "no default: finite numbers stay finite", HasHalfArithmetic, Never},
    {Rule::kChainedSums, "chained_sums", "Sums of products take one product after the other instead of four at once.",
     "RADV's compiler: 12 to 19 % fewer cycles, since each is then one fused operation; not where sums decide indices",
     Always, IsHardware},
    {Rule::kTwoPixelTiles, "two_pixel_tiles", "A work item of a convolution with a window makes 2 pixels, not 4.",
     "RADV's compiler: 2 by 2 texels take as many cycles for each as 4 by 2, in 40 instead of 72 registers (Raven: 7 "
     "instead of 3 waves of 10 reside, Navi 21: 24 instead of 14 of 32); weights, of which an item then loads twice as "
     "many, are loads of the scalar unit",
     Always, IsAmdGpu},
    {Rule::kUprightTiles, "upright_tiles",
     "A work item of a depthwise convolution makes 2 pixels below each other, not 4 beside each other.",
     "estimated for four GPUs: neighbouring items then read neighbouring texels, and 4 side by side take up to four "
     "times as long; ptxas: 72 instead of 168 registers under stride 2",
     Always, IsHardware},
    {Rule::kStaleTexels, "stale_texels", "Nothing is read through texel buffers: the driver counts as one without.",
     "softpipe: texels come from a cache that what kernels write does not reach, barrier or not; the demo network's "
     "second layer read what was there before",
     IsSoftpipe, IsSoftpipe},
    {Rule::kGridClasses, "grid_classes",
     "Programs that ran small grids only are not taken for large ones, nor vice versa.",
     "PoCL: other machine code for grids of 65,535 work items; what a stored program lacks is linked again at each "
     "start, one kernel of selfie_segmentation behind DeepLab",
     IsOpenCl, IsOpenClOnSoftware},
    {Rule::kDeviceDetections, "device_detections",
     "TFLite_Detection_PostProcess runs on the device: detections leave it, not all boxes and scores.",
     "SSD MobileNet v1: 272 bytes cross instead of 736,128; software drivers: no bus to cross, and one group is one "
     "core: 0.1 ms on the CPU, 0.3 by PoCL's kernels, 0.9 by llvmpipe's, 1.0 by lavapipe's",
     Always, IsHardware},
    {Rule::kCooperativeMatrices, "cooperative_matrices",
     "In fp16 and fp32_16 the subgroups of a 1x1 convolution multiply whole matrices (VK_KHR_cooperative_matrix).",
     "no hardware; RADV's compiler, Navi 31: 59 products a cycle and wave in tiles of 64 by 64, pointwise_tile 36, and "
     "52 with half_arithmetic; lavapipe of Mesa 26.1 takes four times as long",
     HasMatrices, Never},
};

static_assert(AreInOrder(kRules, &DeviceRule::rule) && std::size(kRules) <= 32);  // ForcedRules has one bit for each

uint32_t BitOf(Rule rule) {
  return uint32_t{1} << static_cast<int>(rule);
}

Status ForceRule(std::string_view word, ForcedRules& forced) {
  const bool is_on = word.starts_with('+'), is_off = word.starts_with('-');
  const std::string_view name = is_on || is_off ? word.substr(1) : word;
  const auto* row = std::ranges::find(kRules, name, &DeviceRule::name);
  if (row == std::end(kRules) || (!is_on && !is_off)) {
    std::vector<std::string_view> names;
    for (const DeviceRule& rule : kRules) names.push_back(rule.name);
    return Error(StatusCode::kInvalidArgument,
                 "rule '{}' is not +NAME or -NAME with one of these names: {}; `hearth devices --json` says what "
                 "applies to each device",
                 word, fmt::join(names, ", "));
  }
  (is_on ? forced.on : forced.off) |= BitOf(row->rule);
  (is_on ? forced.off : forced.on) &= ~BitOf(row->rule);
  return Status::Ok();
}

}  // namespace

std::span<const DeviceRule> DeviceRules() {
  return kRules;
}

bool IsPossible(Rule rule, const DeviceInfo& device) {
  return (device.forced_rules.off & BitOf(rule)) == 0 && kRules[static_cast<int>(rule)].can(device);
}

bool Applies(Rule rule, const DeviceInfo& device) {
  if (!IsPossible(rule, device)) return false;
  return (device.forced_rules.on & BitOf(rule)) != 0 || kRules[static_cast<int>(rule)].holds(device);
}

bool IsForced(Rule rule, const DeviceInfo& device) {
  return ((device.forced_rules.on | device.forced_rules.off) & BitOf(rule)) != 0;
}

DeviceInfo Without(Rule rule, DeviceInfo device) {
  device.forced_rules.on &= ~BitOf(rule);
  device.forced_rules.off |= BitOf(rule);
  return device;
}

AccessPath DefaultReadPath(const DeviceInfo& device) {
  return Applies(Rule::kTexelReads, device) ? AccessPath::kTexelBuffer : AccessPath::kBuffer;
}

std::string ToText(const ForcedRules& forced) {
  std::vector<std::string> words;
  for (const DeviceRule& row : kRules) {
    if ((forced.on & BitOf(row.rule)) != 0) words.push_back(fmt::format("+{}", row.name));
    if ((forced.off & BitOf(row.rule)) != 0) words.push_back(fmt::format("-{}", row.name));
  }
  return fmt::format("{}", fmt::join(words, ","));
}

Result<ForcedRules> ForcedRulesFromText(std::string_view text) {
  ForcedRules forced;
  for (const std::string_view part : PartsOf(text, ',')) HEARTH_TRY(ForceRule(part, forced));
  return forced;
}

}  // namespace hearth
