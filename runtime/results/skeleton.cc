#include "runtime/results/skeleton.h"

#include <algorithm>
#include <array>

namespace hearth {
namespace {

using Limb = std::pair<size_t, size_t>;

constexpr std::array<std::string_view, 17> kBodyNames = {
    "nose",           "left eye",   "right eye",   "left ear",   "right ear",   "left shoulder",
    "right shoulder", "left elbow", "right elbow", "left wrist", "right wrist", "left hip",
    "right hip",      "left knee",  "right knee",  "left ankle", "right ankle"};
constexpr std::array<Limb, 16> kBodyLimbs = {{{0, 1},
                                              {0, 2},
                                              {1, 3},
                                              {2, 4},
                                              {5, 6},
                                              {5, 7},
                                              {7, 9},
                                              {6, 8},
                                              {8, 10},
                                              {5, 11},
                                              {6, 12},
                                              {11, 12},
                                              {11, 13},
                                              {13, 15},
                                              {12, 14},
                                              {14, 16}}};

constexpr std::array<std::string_view, 21> kHandNames = {
    "wrist",   "thumb 1",   "thumb 2",  "thumb 3",  "thumb tip", "index 1",    "index 2",
    "index 3", "index tip", "middle 1", "middle 2", "middle 3",  "middle tip", "ring 1",
    "ring 2",  "ring 3",    "ring tip", "little 1", "little 2",  "little 3",   "little tip"};
constexpr std::array<Limb, 21> kHandLimbs = {{{0, 1},   {1, 2},   {2, 3},   {3, 4},   {0, 5},   {5, 6},   {6, 7},
                                              {7, 8},   {5, 9},   {9, 10},  {10, 11}, {11, 12}, {9, 13},  {13, 14},
                                              {14, 15}, {15, 16}, {13, 17}, {0, 17},  {17, 18}, {18, 19}, {19, 20}}};

constexpr std::array<std::string_view, 6> kFaceNames = {"right eye", "left eye",  "nose",
                                                        "mouth",     "right ear", "left ear"};

constexpr std::array<Skeleton, 3> kSkeletons = {{{"body", kBodyNames.size(), kBodyNames, kBodyLimbs},
                                                 {"hand", kHandNames.size(), kHandNames, kHandLimbs},
                                                 {"face", 468, {}, {}}}};
constexpr Skeleton kFace = {"face", kFaceNames.size(), kFaceNames, {}};

}  // namespace

const Skeleton* SkeletonOf(size_t point_count) {
  const auto found = std::find_if(kSkeletons.begin(), kSkeletons.end(),
                                  [&](const Skeleton& skeleton) { return skeleton.point_count == point_count; });
  return found == kSkeletons.end() ? nullptr : &*found;
}

const Skeleton& FaceSkeleton() {
  return kFace;
}

std::string PointName(const Skeleton* skeleton, size_t point) {
  if (skeleton == nullptr || point >= skeleton->point_names.size()) return std::to_string(point);
  return std::string(skeleton->point_names[point]);
}

}  // namespace hearth
