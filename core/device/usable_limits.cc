#include "core/device/usable_limits.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <numeric>
#include <string>

#include "core/base/text.h"
#include "core/device/device_rules.h"

namespace hearth {
namespace {

// A part that is sold with several numbers has the largest. Only the rows from Mesa's Adreno file and TensorFlow Lite
// were compared with their source.
constexpr ComputeUnitsRow kFreedrenoRows[] = {
    {"adreno 505", 1},   {"adreno 506", 1},   {"adreno 508", 1}, {"adreno 509", 1}, {"adreno 510", 2},
    {"adreno 512", 2},   {"adreno 530", 4},   {"adreno 540", 4}, {"adreno 605", 1}, {"adreno 608", 1},
    {"adreno 610", 1},   {"adreno 612", 1},   {"adreno 615", 1}, {"adreno 616", 1}, {"adreno 618", 1},
    {"adreno 619", 1},   {"adreno 620", 1},   {"adreno 621", 2}, {"adreno 623", 2}, {"adreno 630", 2},
    {"adreno 640", 2},   {"adreno 643", 2},   {"adreno 644", 3}, {"adreno 650", 3}, {"adreno 660", 3},
    {"adreno 663", 3},   {"adreno 680", 4},   {"adreno 690", 8}, {"adreno 702", 1}, {"adreno 725", 4},
    {"adreno 730", 4},   {"adreno 735", 3},   {"adreno 740", 6}, {"adreno 7c", 2},  {"adreno 8c", 2},
    {"adreno x1 45", 3}, {"adreno x1 85", 6}, {"adreno 750", 6}, {"adreno 830", 6}, {"adreno 840", 6},
    {"adreno x2 85", 8}};
constexpr ComputeUnitsRow kTfLiteRows[] = {
    {"adreno 304", 1}, {"adreno 305", 1}, {"adreno 306", 1},    {"adreno 308", 1},    {"adreno 320", 2},
    {"adreno 330", 4}, {"adreno 405", 1}, {"adreno 418", 2},    {"adreno 420", 4},    {"adreno 430", 4},
    {"adreno 504", 1}, {"adreno 675", 4}, {"adreno 685", 4},    {"apple a11", 3},     {"apple a12", 4},
    {"apple a12x", 7}, {"apple a12z", 8}, {"apple a13", 4},     {"apple a14", 4},     {"apple a15", 5},
    {"apple a16", 5},  {"apple m1", 8},   {"apple m1 pro", 16}, {"apple m1 max", 32}, {"apple m1 ultra", 64},
    {"apple m2", 10}};
constexpr ComputeUnitsRow kAppleRows[] = {{"apple m2 pro", 19}, {"apple m2 max", 38}, {"apple m2 ultra", 76},
                                          {"apple m3", 10},     {"apple m3 pro", 18}, {"apple m3 max", 40},
                                          {"apple m4", 10},     {"apple m4 pro", 20}, {"apple m4 max", 40}};
constexpr ComputeUnitsRow kImaginationRows[] = {
    {"g6200", 2},  {"g6400", 4},  {"g6430", 4},  {"g6630", 6},  {"gx6240", 2}, {"gx6250", 2},  {"gx6450", 4},
    {"gx6650", 6}, {"gt7200", 2}, {"gt7400", 4}, {"gt7600", 6}, {"gt7800", 8}, {"gt7900", 16}, {"ge8100", 1},
    {"ge8200", 1}, {"ge8300", 1}, {"ge8310", 1}, {"ge8320", 1}, {"ge8322", 1}};
// Arm's licensees choose the number of cores, and names without MPn don't tell it: each row names a chip.
constexpr ComputeUnitsRow kMaliRows[] = {{"mali t604", 4, "Samsung Exynos 5250"},
                                         {"mali t628", 6, "Samsung Exynos 5422"},
                                         {"mali t720", 2, "Samsung Exynos 7580"},
                                         {"mali t760", 8, "Samsung Exynos 7420"},
                                         {"mali t830", 1, "Samsung Exynos 7870"},
                                         {"mali t860", 4, "Rockchip RK3399"},
                                         {"mali t880", 4, "MediaTek Helio X20"},
                                         {"mali g31", 2, "Amlogic S905X3"},
                                         {"mali g51", 4, "HiSilicon Kirin 710"},
                                         {"mali g52", 2, "MediaTek Helio G80"},
                                         {"mali g57", 2, "MediaTek Dimensity 700"},
                                         {"mali g68", 4, "MediaTek Dimensity 900"},
                                         {"mali g71", 8, "HiSilicon Kirin 960"},
                                         {"mali g72", 12, "HiSilicon Kirin 970"},
                                         {"mali g76", 10, "HiSilicon Kirin 980"},
                                         {"mali g77", 9, "MediaTek Dimensity 1000"},
                                         {"mali g78", 14, "Samsung Exynos 2100"},
                                         {"mali g610", 4, "Rockchip RK3588"},
                                         {"mali g615", 2, "MediaTek Dimensity 7300"},
                                         {"mali g710", 10, "MediaTek Dimensity 9000"},
                                         {"mali g715", 7, "Google Tensor G3"},
                                         {"immortalis g715", 11, "MediaTek Dimensity 9200"},
                                         {"immortalis g720", 12, "MediaTek Dimensity 9300"}};
// Chips, which Mesa's drivers name, and the names of products.
constexpr ComputeUnitsRow kIntelChipRows[] = {
    {"intel", 24},     {"gt1", 12},     {"gt2", 24},       {"gt3", 48},     {"gt3e", 48},
    {"gt4", 72},       {"gt4e", 72},    {"ivb gt1", 6},    {"ivb gt2", 16}, {"hsw gt1", 10},
    {"hsw gt2", 20},   {"hsw gt3", 40}, {"bxt", 18},       {"glk", 18},     {"icl gt1", 32},
    {"icl gt1 5", 48}, {"icl gt2", 64}, {"ehl", 32},       {"jsl", 32},     {"tgl gt1", 32},
    {"tgl gt2", 96},   {"rkl gt1", 32}, {"adl s gt1", 32}, {"adl gt2", 96}, {"rpl p", 96}};
constexpr ComputeUnitsRow kIntelRows[] = {{"hd graphics 2500", 6},
                                          {"hd graphics 4000", 16},
                                          {"hd graphics 4400", 20},
                                          {"hd graphics 4600", 20},
                                          {"hd graphics 500", 12},
                                          {"hd graphics 505", 18},
                                          {"hd graphics 510", 12},
                                          {"hd graphics 520", 24},
                                          {"hd graphics 530", 24},
                                          {"hd graphics 610", 12},
                                          {"hd graphics 615", 24},
                                          {"hd graphics 620", 24},
                                          {"hd graphics 630", 24},
                                          {"hd graphics 5500", 24},
                                          {"hd graphics 6000", 48},
                                          {"uhd graphics 600", 12},
                                          {"uhd graphics 605", 18},
                                          {"uhd graphics 610", 12},
                                          {"uhd graphics 615", 24},
                                          {"uhd graphics 617", 24},
                                          {"uhd graphics 620", 24},
                                          {"uhd graphics 630", 24},
                                          {"uhd graphics 730", 24},
                                          {"uhd graphics 750", 32},
                                          {"uhd graphics 770", 32},
                                          {"iris graphics 540", 48},
                                          {"iris graphics 550", 48},
                                          {"iris plus graphics 640", 48},
                                          {"iris plus graphics 645", 48},
                                          {"iris plus graphics 650", 48},
                                          {"iris plus graphics 655", 48},
                                          {"iris xe graphics", 96},
                                          {"arc a310", 96},
                                          {"arc a380", 128},
                                          {"arc a580", 384},
                                          {"arc a750", 448},
                                          {"arc a770", 512}};
constexpr ComputeUnitsRow kGtxRows[] = {
    {"gtx 750", 4},   {"gtx 750 ti", 5},      {"gtx 950", 6},   {"gtx 960", 8},         {"gtx 970", 13},
    {"gtx 980", 16},  {"gtx 980 ti", 22},     {"gt 1030", 3},   {"mx150", 3},           {"mx250", 3},
    {"mx350", 5},     {"mx450", 14},          {"gtx 1050", 5},  {"gtx 1050 ti", 6},     {"gtx 1060", 10},
    {"gtx 1070", 15}, {"gtx 1070 ti", 19},    {"gtx 1080", 20}, {"gtx 1080 ti", 28},    {"gtx 1630", 8},
    {"gtx 1650", 14}, {"gtx 1650 super", 20}, {"gtx 1660", 22}, {"gtx 1660 super", 22}, {"gtx 1660 ti", 24}};
constexpr ComputeUnitsRow kRtxRows[] = {
    {"rtx 2050", 16},           {"rtx 2060", 30},        {"rtx 2060 super", 34},    {"rtx 2070", 36},
    {"rtx 2070 super", 40},     {"rtx 2080", 46},        {"rtx 2080 super", 48},    {"rtx 2080 ti", 68},
    {"rtx 3050", 20},           {"rtx 3050 laptop", 16}, {"rtx 3060", 28},          {"rtx 3060 laptop", 30},
    {"rtx 3060 ti", 38},        {"rtx 3070", 46},        {"rtx 3070 laptop", 40},   {"rtx 3070 ti", 48},
    {"rtx 3070 ti laptop", 46}, {"rtx 3080", 68},        {"rtx 3080 laptop", 48},   {"rtx 3080 ti", 80},
    {"rtx 3080 ti laptop", 58}, {"rtx 3090", 82},        {"rtx 3090 ti", 84},       {"rtx 4050 laptop", 20},
    {"rtx 4060", 24},           {"rtx 4060 ti", 34},     {"rtx 4070", 46},          {"rtx 4070 laptop", 36},
    {"rtx 4070 super", 56},     {"rtx 4070 ti", 60},     {"rtx 4070 ti super", 66}, {"rtx 4080", 76},
    {"rtx 4080 laptop", 58},    {"rtx 4080 super", 80},  {"rtx 4090", 128},         {"rtx 4090 laptop", 76},
    {"rtx 5060", 30},           {"rtx 5060 ti", 36},     {"rtx 5070", 48},          {"rtx 5070 ti", 70},
    {"rtx 5080", 84},           {"rtx 5090", 170}};
constexpr ComputeUnitsRow kServerRows[] = {
    {"tesla p4", 20},     {"tesla p40", 30},    {"tesla p100", 56},  {"tesla v100", 80},   {"tesla t4", 40},
    {"nvidia a2", 10},    {"nvidia a10", 72},   {"nvidia a16", 10},  {"nvidia a30", 56},   {"nvidia a40", 84},
    {"nvidia a100", 108}, {"nvidia l4", 58},    {"nvidia l40", 142}, {"nvidia l40s", 142}, {"nvidia h100 pcie", 114},
    {"nvidia h100", 132}, {"nvidia h200", 132}, {"nvidia b200", 148}};
constexpr ComputeUnitsRow kAmdRows[] = {
    {"rx 460", 14},      {"rx 470", 32},      {"rx 480", 36},      {"rx 550", 8},       {"rx 560", 16},
    {"rx 570", 32},      {"rx 580", 36},      {"rx 590", 36},      {"vega 3", 3},       {"vega 6", 6},
    {"vega 7", 7},       {"vega 8", 8},       {"vega 10", 10},     {"vega 11", 11},     {"rx vega 56", 56},
    {"rx vega 64", 64},  {"radeon vii", 60},  {"rx 5500 xt", 22},  {"rx 5600 xt", 36},  {"rx 5700", 36},
    {"rx 5700 xt", 40},  {"rx 6400", 12},     {"rx 6500 xt", 16},  {"rx 6600", 28},     {"rx 6600 xt", 32},
    {"rx 6650 xt", 32},  {"rx 6700 xt", 40},  {"rx 6750 xt", 40},  {"rx 6800", 60},     {"rx 6800 xt", 72},
    {"rx 6900 xt", 80},  {"rx 6950 xt", 80},  {"rx 7600", 32},     {"rx 7700 xt", 54},  {"rx 7800 xt", 60},
    {"rx 7900 gre", 80}, {"rx 7900 xt", 84},  {"rx 7900 xtx", 96}, {"rx 9060 xt", 32},  {"rx 9070", 56},
    {"rx 9070 xt", 64},  {"radeon 610m", 2},  {"radeon 660m", 6},  {"radeon 680m", 12}, {"radeon 740m", 4},
    {"radeon 760m", 8},  {"radeon 780m", 12}, {"radeon 880m", 12}, {"radeon 890m", 16}, {"vangogh", 8}};

constexpr ComputeUnitsSource kSources[] = {
    {"Mesa, src/freedreno/common/freedreno_devices.py: num_ccu", kFreedrenoRows},
    {"TensorFlow Lite's GPU delegate, common/gpu_info.cc", kTfLiteRows},
    {"Apple's technical specifications: cores of the GPU", kAppleRows},
    {"Imagination's pages of the Series6XT, 7XT and 8XE families: USC", kImaginationRows},
    {"Arm's licensees: the chip that a row names", kMaliRows},
    {"Mesa, src/intel/dev/intel_device_info.c; ark.intel.com: execution units", kIntelChipRows},
    {"Mesa, src/intel/dev/intel_device_info.c; ark.intel.com: execution units", kIntelRows},
    {"Wikipedia, List of Nvidia graphics processing units: SM count", kGtxRows},
    {"Wikipedia, List of Nvidia graphics processing units: SM count", kRtxRows},
    {"Wikipedia, List of Nvidia graphics processing units: SM count", kServerRows},
    {"Wikipedia, List of AMD graphics processing units: compute units", kAmdRows},
};

// " adreno 640 " for "Adreno (TM) 640": lower-case letters and digits, a space around each word.
std::string WordsOf(std::string_view name) {
  std::string small = LowerCase(name);
  for (const std::string_view mark : {"(tm)", "(r)", "(c)"}) {
    for (size_t at = small.find(mark); at != std::string::npos; at = small.find(mark))
      small.replace(at, mark.size(), " ");
  }
  std::string words = " ";
  for (const char c : small) {
    const bool is_part = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (is_part) words += c;
    if (!is_part && words.back() != ' ') words += ' ';
  }
  if (words.back() != ' ') words += ' ';
  // Mesa's OpenGL ES driver says FD640.
  for (size_t at = words.find(" fd"); at != std::string::npos; at = words.find(" fd", at + 1)) {
    if (std::isdigit(static_cast<unsigned char>(words[at + 3])) != 0) words.replace(at, 3, " adreno ");
  }
  return words;
}

// n of MPn or MCn; 0 where there is none.
uint32_t CoresInName(std::string_view words) {
  for (const std::string_view prefix : {" mp", " mc"}) {
    const size_t at = words.find(prefix);
    if (at == std::string_view::npos) continue;
    uint32_t cores = 0;
    const char* end = words.data() + words.size();
    const auto [rest, error] = std::from_chars(words.data() + at + prefix.size(), end, cores);
    if (error == std::errc() && *rest == ' ' && cores > 0 && cores <= 64) return cores;
  }
  return 0;
}

bool Names(std::string_view words, std::string_view row) {
  for (size_t at = words.find(row); at != std::string_view::npos; at = words.find(row, at + 1)) {
    if (words[at - 1] == ' ' && words[at + row.size()] == ' ') return true;
  }
  return false;
}

}  // namespace

uint32_t UsableAlignment(std::initializer_list<uint64_t> asked) {
  constexpr uint64_t kMost = uint64_t{1} << 30;
  uint64_t alignment = 16;
  for (const uint64_t bytes : asked) {
    if (bytes != 0) alignment = std::min(kMost, std::lcm(alignment, std::min(bytes, kMost)));
  }
  return static_cast<uint32_t>(alignment);
}

bool IsUsableMatrix(const std::array<uint32_t, 3>& shape) {
  const auto [rows, columns, depth] = shape;
  constexpr uint32_t kRow = 8, kMostElements = 256;
  const auto is_side = [](uint32_t count) { return count != 0 && count <= kMostElements; };
  return is_side(rows) && is_side(columns) && is_side(depth) && columns % kRow == 0 && depth % kRow == 0 &&
         rows * columns <= kMostElements;
}

DeviceInfo WithUsableLimits(DeviceInfo info) {
  info.buffer_offset_alignment = UsableAlignment({info.buffer_offset_alignment});
  if (info.compute_units == 0) info.compute_units = info.is_software() ? 1 : ComputeUnitsByName(info.name, info.type);
  info.native_vector_floats = std::max(1u, info.native_vector_floats);
  if (!std::has_single_bit(info.subgroup_size)) info.subgroup_size = 1;
  if (info.subgroup_size == 1 || !IsUsableMatrix(info.matrix_shape)) info.matrix_shape = {0, 0, 0};
  if (Applies(Rule::kStaleTexels, info)) info.max_texel_elements = 0;
  return info;
}

std::span<const ComputeUnitsSource> ComputeUnitsTable() {
  return kSources;
}

uint32_t ComputeUnitsByName(std::string_view name, DeviceType type) {
  const std::string words = WordsOf(name);
  const bool is_arm = Names(words, "mali") || Names(words, "immortalis");
  if (const uint32_t cores = is_arm ? CoresInName(words) : 0; cores > 0) return cores;
  const ComputeUnitsRow* longest = nullptr;
  for (const ComputeUnitsSource& source : kSources) {
    for (const ComputeUnitsRow& row : source.rows) {
      if (Names(words, row.name) && (longest == nullptr || row.name.size() > longest->name.size())) longest = &row;
    }
  }
  if (longest != nullptr) return longest->units;
  return type == DeviceType::kDiscreteGpu ? kUnitsOfUnknownDiscreteGpu : kUnitsOfUnknownGpu;
}

}  // namespace hearth
