// The table of device profiles.
//
// Each row names its reports: files of Khronos' Vulkan-Profiles repository that were made from reports to gpuinfo.org,
// definitions of Unity's device simulator, issues with the output of vulkaninfo or clinfo, or the source of a driver.
// Where drivers of one GPU differ, the row has the least of them.
#include <array>

#include "core/device/device_profiles.h"

namespace hearth {
namespace {

constexpr uint64_t kMiB = 1u << 20, kGiB = 1u << 30;
constexpr std::array<uint32_t, 3> kMaxGroups = {65535, 65535, 65535};
// OpenCL has no limit; its backend sets one for the second and third dimension of GPUs.
constexpr std::array<uint32_t, 3> kMaxGroupsInOpenCl = {0x7fffffff, 65535, 65535};

// Bits of VkMemoryPropertyFlags.
constexpr uint32_t kLocal = 1, kVisible = 2, kCoherent = 4, kCached = 8;
constexpr uint32_t kShared = kLocal | kVisible;

constexpr uint32_t kAdrenoMemory[] = {kLocal, kShared | kCached, kShared | kCoherent | kCached};
constexpr uint32_t kMaliMemory[] = {kShared | kCoherent, kShared | kCached};
constexpr uint32_t kPowerVrMemory[] = {kShared | kCoherent};
constexpr uint32_t kIntelMemory[] = {kShared | kCoherent | kCached};
constexpr uint32_t kAmdMemory[] = {kLocal, kVisible | kCoherent, kShared | kCoherent, kVisible | kCoherent | kCached};
constexpr uint32_t kNvidiaMemory[] = {0, kLocal, kVisible | kCoherent, kVisible | kCoherent | kCached,
                                      kShared | kCoherent};
constexpr uint32_t kAppleMemory[] = {kLocal, kShared | kCoherent | kCached};
constexpr uint32_t kLeastMemory[] = {kLocal, kVisible | kCoherent};

template <typename Limit>
constexpr void FillIn(Limit& limit, Limit value) {
  if (limit == Limit{}) limit = value;
}

// Fills in what a row leaves out: the APIs, and limits that most GPUs share.
constexpr DeviceProfile Gpu(DeviceProfile row) {
  row.opencl = row.gles = row.vulkan = true;
  ProfileLimits& limits = row.limits;
  FillIn(limits.max_local_invocations, 1024u);
  FillIn(limits.max_group_count, kMaxGroups);
  FillIn(limits.local_memory_bytes, 32768u);
  FillIn(limits.max_buffer_bytes, kGiB);
  FillIn(limits.max_binding_bytes, 128 * kMiB);
  FillIn(limits.max_texel_elements, uint64_t{65536});
  FillIn(limits.buffer_offset_alignment, 64u);
  FillIn(limits.max_scalar_bytes, 128u);
  // An argument of OpenCL sees its whole buffer. All arguments together have at least 1024 bytes, 8 for a buffer.
  ProfileLimits& in_opencl = row.in_opencl;
  FillIn(in_opencl.max_binding_bytes,
         in_opencl.max_buffer_bytes != 0 ? in_opencl.max_buffer_bytes : limits.max_buffer_bytes);
  FillIn(in_opencl.max_group_count, kMaxGroupsInOpenCl);
  FillIn(in_opencl.max_scalar_bytes, 1024u);
  FillIn(in_opencl.max_storage_buffers, in_opencl.max_scalar_bytes / 8);
  // The least of OpenGL ES 3.1, a quarter of which is certain (backends/gles/driver_facts.cc).
  FillIn(row.in_gles.max_scalar_bytes, 512u);
  return row;
}

// The same for GPUs that share memory with the processor.
constexpr DeviceProfile IntegratedGpu(DeviceProfile row) {
  row.type = DeviceType::kIntegratedGpu;
  row.fp16_arithmetic = row.unified_memory = true;
  return Gpu(row);
}

// What AMD's rows share.
constexpr DeviceProfile AmdGpu(DeviceProfile row) {
  row.type = DeviceType::kDiscreteGpu;
  ProfileLimits& limits = row.limits;
  FillIn(limits.max_local_size, std::array<uint32_t, 3>{1024, 1024, 1024});
  FillIn(limits.max_buffer_bytes, 2 * kGiB);
  FillIn(limits.max_binding_bytes, 4 * kGiB - 1);
  FillIn(limits.max_texel_elements, uint64_t{134217728});
  FillIn(limits.buffer_offset_alignment, 16u);
  row.in_opencl.max_local_invocations = 256;
  row.in_vulkan.max_texel_elements = 4 * kGiB - 1;
  row.in_vulkan.max_storage_buffers = 8388606;
  row.subgroup_size = 64;
  row.vulkan_tells_units = row.int64 = true;
  row.vulkan_memory = kAmdMemory;
  row.flush_atom_bytes = 128;
  return Gpu(row);
}

// What NVIDIA's rows share.
constexpr DeviceProfile NvidiaGpu(DeviceProfile row) {
  row.type = DeviceType::kDiscreteGpu;
  ProfileLimits& limits = row.limits;
  FillIn(limits.max_local_size, std::array<uint32_t, 3>{1024, 1024, 64});
  FillIn(limits.max_group_count, std::array<uint32_t, 3>{2147483647, 65535, 65535});
  FillIn(limits.local_memory_bytes, 49152u);
  FillIn(limits.max_buffer_bytes, uint64_t{4292870144});
  FillIn(limits.max_binding_bytes, 4 * kGiB - 1);
  FillIn(limits.max_texel_elements, uint64_t{134217728});
  FillIn(limits.buffer_offset_alignment, 16u);
  FillIn(limits.max_storage_buffers, 16u);
  FillIn(limits.max_scalar_bytes, 256u);
  FillIn(row.in_opencl.max_buffer_bytes, 1536 * kMiB);
  FillIn(row.in_opencl.max_scalar_bytes, 4352u);
  FillIn(row.in_vulkan.max_storage_buffers, 1048576u);
  row.subgroup_size = 32;
  row.vulkan_tells_units = row.matrices = row.int64 = row.fp16_arithmetic = true;
  row.vulkan_memory = kNvidiaMemory;
  row.flush_atom_bytes = 64;
  return Gpu(row);
}

constexpr DeviceProfile kProfiles[] = {
    IntegratedGpu(
        {.name = "adreno640",
         .title = "Qualcomm Adreno 640",
         .source = "Unity device simulator: Pixel 4, OnePlus 7 Pro, Galaxy S10e, drivers 512.355 to 512.408 "
                   "(groups, storage buffers); OpenCL as BOINC issue 3613 and Adreno 750 in clinfo issue 92; memory "
                   "types as Adreno 620 in termux-packages 7165; not confirmed: texels, bindings and scalars of "
                   "Vulkan and OpenGL ES, subgroup",
         .limits = {.max_local_size = {1024, 1024, 64}, .max_storage_buffers = 24},
         .in_opencl = {.max_texel_elements = 134217728},
         .in_vulkan = {.max_storage_buffers = 72},
         .compute_units = 2,
         .renderer = "Adreno (TM) 640",
         .subgroup_size = 64,
         .vulkan_memory = kAdrenoMemory,
         .flush_atom_bytes = 64}),
    IntegratedGpu({.name = "adreno730",
                   .title = "Qualcomm Adreno 730",
                   .source =
                       "no report of its own: groups and alignments as a Galaxy S22 or S23 Ultra (vulkaninfo in tur "
                       "issue 530), subgroup, local memory and float16 as Adreno 732 (llama.cpp issue 12139), the rest "
                       "as adreno640; not confirmed: storage buffers, texels, bindings, scalars, int64",
                   .limits = {.max_local_size = {1024, 1024, 64}, .max_storage_buffers = 24, .max_scalar_bytes = 256},
                   .in_opencl = {.max_texel_elements = 134217728},
                   .compute_units = 4,
                   .renderer = "Adreno (TM) 730",
                   .subgroup_size = 64,
                   .int64 = true,
                   .vulkan_memory = kAdrenoMemory,
                   .flush_atom_bytes = 64}),
    IntegratedGpu(
        {.name = "mali-g52",
         .title = "Arm Mali-G52",
         .source = "clinfo in CLBlast issue 375 (groups, units, subgroup); Vulkan and OpenGL ES: groups and storage "
                   "buffers as Mali-G76, drivers r16 to r26 (Unity device simulator: Galaxy S10+, Note10, P40 Pro); "
                   "not confirmed: texels, bindings, scalars, the second memory type",
         .limits = {.max_local_size = {384, 384, 384}, .max_local_invocations = 384, .max_storage_buffers = 35},
         .in_gles = {.max_local_size = {128, 128, 128}, .max_local_invocations = 128, .max_storage_buffers = 24},
         .compute_units = 2,
         .vulkan_tells_units = true,
         .renderer = "Mali-G52",
         .subgroup_size = 8,
         .int64 = true,
         .vulkan_memory = kMaliMemory,
         .flush_atom_bytes = 64}),
    IntegratedGpu(
        {.name = "mali-g78",
         .title = "Arm Mali-G78",
         .source = "groups and storage buffers as Mali-G77, driver r26 (Unity device simulator: Galaxy Note20 "
                   "Ultra); no memory is coherent and cached at once on a Pixel 6 Pro (filament 7084, llama.cpp "
                   "issue 5319); subgroup as Mali-G720 (llama.cpp 27163); not confirmed: texels, bindings, scalars, "
                   "the second memory type",
         .limits = {.max_local_size = {512, 512, 512}, .max_local_invocations = 512, .max_storage_buffers = 35},
         .in_gles = {.max_local_size = {128, 128, 128}, .max_local_invocations = 128, .max_storage_buffers = 24},
         .in_vulkan = {.max_storage_buffers = 500000},
         .compute_units = 14,
         .vulkan_tells_units = true,
         .renderer = "Mali-G78",
         .subgroup_size = 16,
         .int64 = true,
         .vulkan_memory = kMaliMemory,
         .flush_atom_bytes = 64}),
    IntegratedGpu(
        {.name = "powervr-ge8320",
         .title = "Imagination PowerVR Rogue GE8320",
         .source = "Vulkan: driver 1.386.1368 (azhirnov/as-en, feature set of PowerVR), memory types and alignments "
                   "as Mesa's driver; no report found of OpenGL ES, of OpenCL and of the largest buffer",
         .limits = {.max_local_size = {512, 512, 64},
                    .max_local_invocations = 512,
                    .local_memory_bytes = 16384,
                    .max_buffer_bytes = 256 * kMiB,
                    .max_storage_buffers = 16},
         .in_vulkan = {.max_storage_buffers = 96},
         .compute_units = 1,
         .renderer = "PowerVR Rogue GE8320",
         .subgroup_size = 1,
         .int64 = true,
         .vulkan_memory = kPowerVrMemory}),
    IntegratedGpu({.name = "intel-uhd620",
                   .title = "Intel UHD Graphics 620",
                   .source =
                       "Vulkan-Profiles: Windows driver 404.2125, Mesa 23.1.7; OpenCL as its generation "
                       "(compute-runtime issues 207, 428, john issue 3238); OpenGL ES: bindings and storage buffers as "
                       "xemu issue 84; memory types: Mesa",
                   .limits = {.max_local_size = {1024, 1024, 64},
                              .max_buffer_bytes = 2 * kGiB,
                              .max_binding_bytes = kGiB - 4,
                              .max_texel_elements = 134217728,
                              .max_storage_buffers = 16},
                   .in_opencl = {.max_local_size = {256, 256, 256},
                                 .max_local_invocations = 256,
                                 .local_memory_bytes = 65536,
                                 .max_buffer_bytes = 4294959104,
                                 .max_texel_elements = 268434944},
                   .in_gles = {.max_binding_bytes = 128 * kMiB},
                   .in_vulkan = {.max_buffer_bytes = 4 * kGiB, .max_storage_buffers = 200},
                   .compute_units = 24,
                   .renderer = "Mesa Intel(R) UHD Graphics 620 (KBL GT2)",
                   .subgroup_size = 32,
                   .int64 = true,
                   .vulkan_memory = kIntelMemory,
                   .flush_atom_bytes = 64}),
    AmdGpu({.name = "polaris10",
            .title = "AMD Radeon RX 580 (Polaris)",
            .source = "Vulkan-Profiles: RX 580, AMD driver 2.0.258, RADV 23.1.7; OpenCL: RX 580 in Cekirdekler issue "
                      "51, RX 570 in EN605.617 pull request 16; OpenGL ES: storage buffers as RadeonSI in pathfinder "
                      "issue 373; memory types: RADV",
            .limits = {.max_storage_buffers = 8},
            .in_opencl = {.max_local_size = {256, 256, 256}},
            .compute_units = 36,
            .renderer = "AMD Radeon RX 580 Series (polaris10, LLVM 15.0.7, DRM 3.54, 6.5.0)"}),
    AmdGpu({.name = "navi21",
            .title = "AMD Radeon RX 6800 (Navi 21)",
            .source = "Vulkan-Profiles: RX 6800 XT, AMD drivers 2.0.233 and 2.0.283, RX 6900 XT, RADV 22.2.99; OpenCL: "
                      "groups as Navi 10 in dlprimitives issue 3; memory types: RADV; no report found of OpenGL ES",
            .limits = {.max_storage_buffers = 16},
            .compute_units = 60,
            .renderer = "AMD Radeon RX 6800 (navi21, LLVM 15.0.7, DRM 3.54, 6.5.0)",
            .fp16_arithmetic = true}),
    NvidiaGpu(
        {.name = "turing",
         .title = "NVIDIA GeForce RTX 2060 (Turing)",
         .source = "Vulkan-Profiles: RTX 2060, drivers 525.47 and 537.59; OpenCL: a quarter of the memory as Quadro "
                   "RTX 5000 (3Dscript issue 27), arguments as RTX 4090 (hashcat issue 3916); memory types: "
                   "libplacebo issue 178; no report found of OpenGL ES",
         .limits = {.buffer_offset_alignment = 32},
         .in_vulkan = {.buffer_offset_alignment = 16},
         .compute_units = 30,
         .renderer = "NVIDIA GeForce RTX 2060/PCIe/SSE2"}),
    NvidiaGpu(
        {.name = "ampere-laptop",
         .title = "NVIDIA GeForce RTX 3060 Laptop (Ampere)",
         .source = "no report of its own: Vulkan as RTX 3060 Ti, driver 517.22 (Vulkan-Profiles), OpenCL and memory "
                   "types as turing; no report found of OpenGL ES",
         .compute_units = 30,
         .renderer = "NVIDIA GeForce RTX 3060 Laptop GPU/PCIe/SSE2"}),
    NvidiaGpu(
        {.name = "h100",
         .title = "NVIDIA H100 SXM (Hopper)",
         .source = "its own report and vulkaninfo, driver 580.159.04 (benchmarks/hardware-measured.md); memory types "
                   "as turing; not confirmed: scalars of OpenGL ES",
         .limits = {.max_binding_bytes = 4292870144},
         .in_opencl = {.max_buffer_bytes = 21254373376,
                       .max_texel_elements = 268435456,
                       .buffer_offset_alignment = 512,
                       .max_scalar_bytes = 32764},
         .in_gles = {.max_buffer_bytes = kGiB, .max_binding_bytes = kGiB},
         .compute_units = 132,
         .renderer = "NVIDIA H100 80GB HBM3/PCIe/SSE2"}),
    {.name = "apple-m1",
     .title = "Apple M1 through MoltenVK",
     .source = "Vulkan-Profiles: Apple M1, MoltenVK 0.2.1911 to 0.2.2209; not confirmed: memory types",
     .vulkan = true,
     .type = DeviceType::kIntegratedGpu,
     .limits = {.max_local_size = {1024, 1024, 1024},
                .max_local_invocations = 1024,
                .max_group_count = {1073741824, 1073741824, 1073741824},
                .local_memory_bytes = 32768,
                .max_buffer_bytes = 4 * kGiB,
                .max_binding_bytes = 4 * kGiB - 1,
                .max_texel_elements = 67108864,
                .buffer_offset_alignment = 16,
                .max_storage_buffers = 31,
                .max_scalar_bytes = 4096},
     .compute_units = 8,
     .renderer = "Apple M1",
     .subgroup_size = 32,
     .int64 = true,
     .fp16_arithmetic = true,
     .unified_memory = true,
     .vulkan_memory = kAppleMemory,
     .flush_atom_bytes = 16},
    {.name = "vulkan-1.1-minimum",
     .title = "The least that Vulkan 1.1 guarantees",
     .source = "Vulkan specification, table of required limits",
     .vulkan = true,
     .type = DeviceType::kDiscreteGpu,
     .limits = {.max_local_size = {128, 128, 64},
                .max_local_invocations = 128,
                .max_group_count = kMaxGroups,
                .local_memory_bytes = 16384,
                .max_buffer_bytes = kGiB,
                .max_binding_bytes = 128 * kMiB,
                .max_texel_elements = 65536,
                .buffer_offset_alignment = 256,
                .max_storage_buffers = 4,
                .max_scalar_bytes = 128},
     .vulkan_memory = kLeastMemory},
    {.name = "gles-3.1-minimum",
     .title = "The least that OpenGL ES 3.1 guarantees",
     .source = "OpenGL ES 3.1 specification, tables of implementation-dependent values",
     .gles = true,
     .type = DeviceType::kIntegratedGpu,
     .limits = {.max_local_size = {128, 128, 64},
                .max_local_invocations = 128,
                .max_group_count = kMaxGroups,
                .local_memory_bytes = 16384,
                .max_buffer_bytes = kGiB,
                .max_binding_bytes = 128 * kMiB,
                .max_texel_elements = 0,
                .buffer_offset_alignment = 256,
                .max_storage_buffers = 4,
                .max_scalar_bytes = 512}},
    {.name = "opencl-1.2-embedded-minimum",
     .title = "The least that OpenCL 1.2's embedded profile guarantees",
     .source = "OpenCL 1.2 specification, table 4.3 and section 10",
     .opencl = true,
     .type = DeviceType::kIntegratedGpu,
     .limits = {.max_local_size = {1, 1, 1},
                .max_local_invocations = 1,
                .max_group_count = kMaxGroupsInOpenCl,
                .local_memory_bytes = 1024,
                .max_buffer_bytes = kMiB,
                .max_binding_bytes = kMiB,
                .max_texel_elements = 0,
                .buffer_offset_alignment = 128,
                .max_storage_buffers = 16,
                .max_scalar_bytes = 128}},
};

}  // namespace

std::span<const DeviceProfile> DeviceProfiles() {
  return kProfiles;
}

}  // namespace hearth
