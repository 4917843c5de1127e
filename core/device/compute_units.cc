#include "core/device/compute_units.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

#include "core/base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kFreedreno = "Mesa, src/freedreno/common/freedreno_devices.py: num_ccu";
constexpr std::string_view kTfLite = "TensorFlow Lite's GPU delegate, common/gpu_info.cc";
constexpr std::string_view kApple = "Apple's technical specifications: cores of the GPU";
constexpr std::string_view kImagination = "Imagination's pages of the Series6XT, 7XT and 8XE families: USC";
constexpr std::string_view kIntel = "Mesa, src/intel/dev/intel_device_info.c; ark.intel.com: execution units";
constexpr std::string_view kNvidia = "Wikipedia, List of Nvidia graphics processing units: SM count";
constexpr std::string_view kAmd = "Wikipedia, List of AMD graphics processing units: compute units";

// A Mali row names a chip as its source: Arm's licensees choose the number of cores, and names without MPn don't tell
// it. A part that is sold with several numbers has the largest. Only the rows from Mesa's Adreno file and TensorFlow
// Lite were compared with their source.
constexpr ComputeUnitsRow kRows[] = {
    {"adreno 505", 1, kFreedreno},
    {"adreno 506", 1, kFreedreno},
    {"adreno 508", 1, kFreedreno},
    {"adreno 509", 1, kFreedreno},
    {"adreno 510", 2, kFreedreno},
    {"adreno 512", 2, kFreedreno},
    {"adreno 530", 4, kFreedreno},
    {"adreno 540", 4, kFreedreno},
    {"adreno 605", 1, kFreedreno},
    {"adreno 608", 1, kFreedreno},
    {"adreno 610", 1, kFreedreno},
    {"adreno 612", 1, kFreedreno},
    {"adreno 615", 1, kFreedreno},
    {"adreno 616", 1, kFreedreno},
    {"adreno 618", 1, kFreedreno},
    {"adreno 619", 1, kFreedreno},
    {"adreno 620", 1, kFreedreno},
    {"adreno 621", 2, kFreedreno},
    {"adreno 623", 2, kFreedreno},
    {"adreno 630", 2, kFreedreno},
    {"adreno 640", 2, kFreedreno},
    {"adreno 643", 2, kFreedreno},
    {"adreno 644", 3, kFreedreno},
    {"adreno 650", 3, kFreedreno},
    {"adreno 660", 3, kFreedreno},
    {"adreno 663", 3, kFreedreno},
    {"adreno 680", 4, kFreedreno},
    {"adreno 690", 8, kFreedreno},
    {"adreno 702", 1, kFreedreno},
    {"adreno 725", 4, kFreedreno},
    {"adreno 730", 4, kFreedreno},
    {"adreno 735", 3, kFreedreno},
    {"adreno 740", 6, kFreedreno},
    {"adreno 7c", 2, kFreedreno},
    {"adreno 8c", 2, kFreedreno},
    {"adreno x1 45", 3, kFreedreno},
    {"adreno x1 85", 6, kFreedreno},
    {"adreno 750", 6, kFreedreno},
    {"adreno 830", 6, kFreedreno},
    {"adreno 840", 6, kFreedreno},
    {"adreno x2 85", 8, kFreedreno},
    {"adreno 304", 1, kTfLite},
    {"adreno 305", 1, kTfLite},
    {"adreno 306", 1, kTfLite},
    {"adreno 308", 1, kTfLite},
    {"adreno 320", 2, kTfLite},
    {"adreno 330", 4, kTfLite},
    {"adreno 405", 1, kTfLite},
    {"adreno 418", 2, kTfLite},
    {"adreno 420", 4, kTfLite},
    {"adreno 430", 4, kTfLite},
    {"adreno 504", 1, kTfLite},
    {"adreno 675", 4, kTfLite},
    {"adreno 685", 4, kTfLite},
    {"apple a11", 3, kTfLite},
    {"apple a12", 4, kTfLite},
    {"apple a12x", 7, kTfLite},
    {"apple a12z", 8, kTfLite},
    {"apple a13", 4, kTfLite},
    {"apple a14", 4, kTfLite},
    {"apple a15", 5, kTfLite},
    {"apple a16", 5, kTfLite},
    {"apple m1", 8, kTfLite},
    {"apple m1 pro", 16, kTfLite},
    {"apple m1 max", 32, kTfLite},
    {"apple m1 ultra", 64, kTfLite},
    {"apple m2", 10, kTfLite},
    {"apple m2 pro", 19, kApple},
    {"apple m2 max", 38, kApple},
    {"apple m2 ultra", 76, kApple},
    {"apple m3", 10, kApple},
    {"apple m3 pro", 18, kApple},
    {"apple m3 max", 40, kApple},
    {"apple m4", 10, kApple},
    {"apple m4 pro", 20, kApple},
    {"apple m4 max", 40, kApple},
    {"g6200", 2, kImagination},
    {"g6400", 4, kImagination},
    {"g6430", 4, kImagination},
    {"g6630", 6, kImagination},
    {"gx6240", 2, kImagination},
    {"gx6250", 2, kImagination},
    {"gx6450", 4, kImagination},
    {"gx6650", 6, kImagination},
    {"gt7200", 2, kImagination},
    {"gt7400", 4, kImagination},
    {"gt7600", 6, kImagination},
    {"gt7800", 8, kImagination},
    {"gt7900", 16, kImagination},
    {"ge8100", 1, kImagination},
    {"ge8200", 1, kImagination},
    {"ge8300", 1, kImagination},
    {"ge8310", 1, kImagination},
    {"ge8320", 1, kImagination},
    {"ge8322", 1, kImagination},
    {"mali t604", 4, "Samsung Exynos 5250"},
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
    {"immortalis g720", 12, "MediaTek Dimensity 9300"},
    {"intel", 24, kIntel},
    {"gt1", 12, kIntel},
    {"gt2", 24, kIntel},
    {"gt3", 48, kIntel},
    {"gt3e", 48, kIntel},
    {"gt4", 72, kIntel},
    {"gt4e", 72, kIntel},
    {"ivb gt1", 6, kIntel},
    {"ivb gt2", 16, kIntel},
    {"hsw gt1", 10, kIntel},
    {"hsw gt2", 20, kIntel},
    {"hsw gt3", 40, kIntel},
    {"bxt", 18, kIntel},
    {"glk", 18, kIntel},
    {"icl gt1", 32, kIntel},
    {"icl gt1 5", 48, kIntel},
    {"icl gt2", 64, kIntel},
    {"ehl", 32, kIntel},
    {"jsl", 32, kIntel},
    {"tgl gt1", 32, kIntel},
    {"tgl gt2", 96, kIntel},
    {"rkl gt1", 32, kIntel},
    {"adl s gt1", 32, kIntel},
    {"adl gt2", 96, kIntel},
    {"rpl p", 96, kIntel},
    {"hd graphics 2500", 6, kIntel},
    {"hd graphics 4000", 16, kIntel},
    {"hd graphics 4400", 20, kIntel},
    {"hd graphics 4600", 20, kIntel},
    {"hd graphics 500", 12, kIntel},
    {"hd graphics 505", 18, kIntel},
    {"hd graphics 510", 12, kIntel},
    {"hd graphics 520", 24, kIntel},
    {"hd graphics 530", 24, kIntel},
    {"hd graphics 610", 12, kIntel},
    {"hd graphics 615", 24, kIntel},
    {"hd graphics 620", 24, kIntel},
    {"hd graphics 630", 24, kIntel},
    {"hd graphics 5500", 24, kIntel},
    {"hd graphics 6000", 48, kIntel},
    {"uhd graphics 600", 12, kIntel},
    {"uhd graphics 605", 18, kIntel},
    {"uhd graphics 610", 12, kIntel},
    {"uhd graphics 615", 24, kIntel},
    {"uhd graphics 617", 24, kIntel},
    {"uhd graphics 620", 24, kIntel},
    {"uhd graphics 630", 24, kIntel},
    {"uhd graphics 730", 24, kIntel},
    {"uhd graphics 750", 32, kIntel},
    {"uhd graphics 770", 32, kIntel},
    {"iris graphics 540", 48, kIntel},
    {"iris graphics 550", 48, kIntel},
    {"iris plus graphics 640", 48, kIntel},
    {"iris plus graphics 645", 48, kIntel},
    {"iris plus graphics 650", 48, kIntel},
    {"iris plus graphics 655", 48, kIntel},
    {"iris xe graphics", 96, kIntel},
    {"arc a310", 96, kIntel},
    {"arc a380", 128, kIntel},
    {"arc a580", 384, kIntel},
    {"arc a750", 448, kIntel},
    {"arc a770", 512, kIntel},
    {"gtx 750", 4, kNvidia},
    {"gtx 750 ti", 5, kNvidia},
    {"gtx 950", 6, kNvidia},
    {"gtx 960", 8, kNvidia},
    {"gtx 970", 13, kNvidia},
    {"gtx 980", 16, kNvidia},
    {"gtx 980 ti", 22, kNvidia},
    {"gt 1030", 3, kNvidia},
    {"mx150", 3, kNvidia},
    {"mx250", 3, kNvidia},
    {"mx350", 5, kNvidia},
    {"mx450", 14, kNvidia},
    {"gtx 1050", 5, kNvidia},
    {"gtx 1050 ti", 6, kNvidia},
    {"gtx 1060", 10, kNvidia},
    {"gtx 1070", 15, kNvidia},
    {"gtx 1070 ti", 19, kNvidia},
    {"gtx 1080", 20, kNvidia},
    {"gtx 1080 ti", 28, kNvidia},
    {"gtx 1630", 8, kNvidia},
    {"gtx 1650", 14, kNvidia},
    {"gtx 1650 super", 20, kNvidia},
    {"gtx 1660", 22, kNvidia},
    {"gtx 1660 super", 22, kNvidia},
    {"gtx 1660 ti", 24, kNvidia},
    {"rtx 2050", 16, kNvidia},
    {"rtx 2060", 30, kNvidia},
    {"rtx 2060 super", 34, kNvidia},
    {"rtx 2070", 36, kNvidia},
    {"rtx 2070 super", 40, kNvidia},
    {"rtx 2080", 46, kNvidia},
    {"rtx 2080 super", 48, kNvidia},
    {"rtx 2080 ti", 68, kNvidia},
    {"rtx 3050", 20, kNvidia},
    {"rtx 3050 laptop", 16, kNvidia},
    {"rtx 3060", 28, kNvidia},
    {"rtx 3060 laptop", 30, kNvidia},
    {"rtx 3060 ti", 38, kNvidia},
    {"rtx 3070", 46, kNvidia},
    {"rtx 3070 laptop", 40, kNvidia},
    {"rtx 3070 ti", 48, kNvidia},
    {"rtx 3070 ti laptop", 46, kNvidia},
    {"rtx 3080", 68, kNvidia},
    {"rtx 3080 laptop", 48, kNvidia},
    {"rtx 3080 ti", 80, kNvidia},
    {"rtx 3080 ti laptop", 58, kNvidia},
    {"rtx 3090", 82, kNvidia},
    {"rtx 3090 ti", 84, kNvidia},
    {"rtx 4050 laptop", 20, kNvidia},
    {"rtx 4060", 24, kNvidia},
    {"rtx 4060 ti", 34, kNvidia},
    {"rtx 4070", 46, kNvidia},
    {"rtx 4070 laptop", 36, kNvidia},
    {"rtx 4070 super", 56, kNvidia},
    {"rtx 4070 ti", 60, kNvidia},
    {"rtx 4070 ti super", 66, kNvidia},
    {"rtx 4080", 76, kNvidia},
    {"rtx 4080 laptop", 58, kNvidia},
    {"rtx 4080 super", 80, kNvidia},
    {"rtx 4090", 128, kNvidia},
    {"rtx 4090 laptop", 76, kNvidia},
    {"rtx 5060", 30, kNvidia},
    {"rtx 5060 ti", 36, kNvidia},
    {"rtx 5070", 48, kNvidia},
    {"rtx 5070 ti", 70, kNvidia},
    {"rtx 5080", 84, kNvidia},
    {"rtx 5090", 170, kNvidia},
    {"rx 460", 14, kAmd},
    {"rx 470", 32, kAmd},
    {"rx 480", 36, kAmd},
    {"rx 550", 8, kAmd},
    {"rx 560", 16, kAmd},
    {"rx 570", 32, kAmd},
    {"rx 580", 36, kAmd},
    {"rx 590", 36, kAmd},
    {"vega 3", 3, kAmd},
    {"vega 6", 6, kAmd},
    {"vega 7", 7, kAmd},
    {"vega 8", 8, kAmd},
    {"vega 10", 10, kAmd},
    {"vega 11", 11, kAmd},
    {"rx vega 56", 56, kAmd},
    {"rx vega 64", 64, kAmd},
    {"radeon vii", 60, kAmd},
    {"rx 5500 xt", 22, kAmd},
    {"rx 5600 xt", 36, kAmd},
    {"rx 5700", 36, kAmd},
    {"rx 5700 xt", 40, kAmd},
    {"rx 6400", 12, kAmd},
    {"rx 6500 xt", 16, kAmd},
    {"rx 6600", 28, kAmd},
    {"rx 6600 xt", 32, kAmd},
    {"rx 6650 xt", 32, kAmd},
    {"rx 6700 xt", 40, kAmd},
    {"rx 6750 xt", 40, kAmd},
    {"rx 6800", 60, kAmd},
    {"rx 6800 xt", 72, kAmd},
    {"rx 6900 xt", 80, kAmd},
    {"rx 6950 xt", 80, kAmd},
    {"rx 7600", 32, kAmd},
    {"rx 7700 xt", 54, kAmd},
    {"rx 7800 xt", 60, kAmd},
    {"rx 7900 gre", 80, kAmd},
    {"rx 7900 xt", 84, kAmd},
    {"rx 7900 xtx", 96, kAmd},
    {"rx 9060 xt", 32, kAmd},
    {"rx 9070", 56, kAmd},
    {"rx 9070 xt", 64, kAmd},
    {"radeon 610m", 2, kAmd},
    {"radeon 660m", 6, kAmd},
    {"radeon 680m", 12, kAmd},
    {"radeon 740m", 4, kAmd},
    {"radeon 760m", 8, kAmd},
    {"radeon 780m", 12, kAmd},
    {"radeon 880m", 12, kAmd},
    {"radeon 890m", 16, kAmd},
    {"vangogh", 8, kAmd},
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

std::span<const ComputeUnitsRow> ComputeUnitsTable() {
  return kRows;
}

uint32_t ComputeUnitsByName(std::string_view name, DeviceType type) {
  const std::string words = WordsOf(name);
  const bool is_arm = Names(words, "mali") || Names(words, "immortalis");
  if (const uint32_t cores = is_arm ? CoresInName(words) : 0; cores > 0) return cores;
  const ComputeUnitsRow* longest = nullptr;
  for (const ComputeUnitsRow& row : kRows) {
    if (Names(words, row.name) && (longest == nullptr || row.name.size() > longest->name.size())) longest = &row;
  }
  if (longest != nullptr) return longest->units;
  return type == DeviceType::kDiscreteGpu ? kUnitsOfUnknownDiscreteGpu : kUnitsOfUnknownGpu;
}

}  // namespace hearth
