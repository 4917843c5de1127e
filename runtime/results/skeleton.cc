#include "runtime/results/skeleton.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>

namespace hearth {
namespace {

using Limb = std::pair<size_t, size_t>;

// Limbs through points in the order of a list; -1 begins another line.
template <size_t kLimbs>
constexpr std::array<Limb, kLimbs> LimbsThrough(std::initializer_list<int> points) {
  std::array<Limb, kLimbs> limbs{};
  size_t count = 0;
  int last = -1;
  for (const int point : points) {
    if (last >= 0 && point >= 0) limbs[count++] = {static_cast<size_t>(last), static_cast<size_t>(point)};
    last = point;
  }
  return limbs;
}

constexpr std::array<std::string_view, 17> kBodyNames = {
    "nose",           "left eye",   "right eye",   "left ear",   "right ear",   "left shoulder",
    "right shoulder", "left elbow", "right elbow", "left wrist", "right wrist", "left hip",
    "right hip",      "left knee",  "right knee",  "left ankle", "right ankle"};
constexpr std::array<Limb, 16> kBodyLimbs =
    LimbsThrough<16>({0, 1,  -1, 0, 2,  -1, 1, 3,  -1, 2,  4,  -1, 5,  6,  -1, 5,  7,  9,  -1, 6,
                      8, 10, -1, 5, 11, -1, 6, 12, -1, 11, 12, -1, 11, 13, 15, -1, 12, 14, 16});

constexpr std::array<std::string_view, 21> kHandNames = {
    "wrist",   "thumb 1",   "thumb 2",  "thumb 3",  "thumb tip", "index 1",    "index 2",
    "index 3", "index tip", "middle 1", "middle 2", "middle 3",  "middle tip", "ring 1",
    "ring 2",  "ring 3",    "ring tip", "little 1", "little 2",  "little 3",   "little tip"};
constexpr std::array<Limb, 21> kHandLimbs = LimbsThrough<21>(
    {0, 1, 2, 3, 4, -1, 0, 5, 6, 7, 8, -1, 5, 9, 10, 11, 12, -1, 9, 13, 14, 15, 16, -1, 13, 17, -1, 0, 17, 18, 19, 20});

constexpr std::array<std::string_view, 6> kFaceNames = {"right eye", "left eye",  "nose",
                                                        "mouth",     "right ear", "left ear"};

constexpr std::array<std::string_view, 7> kPalmNames = {"wrist",       "index base", "middle base", "ring base",
                                                        "little base", "thumb 1",    "thumb 2"};
constexpr std::array<std::string_view, 4> kPersonNames = {"hips", "size of the body", "shoulders",
                                                          "size of the upper body"};

constexpr std::array<std::string_view, 4> kCornerNames = {"corner 1", "corner 2", "corner 3", "corner 4"};
constexpr std::array<Limb, 4> kCornerLimbs = {{{0, 1}, {1, 2}, {2, 3}, {3, 0}}};
constexpr Skeleton kCorners = {"corners", kCornerNames.size(), kCornerNames, kCornerLimbs};

// BlazePose (Bazarevsky et al., 2020) and POSE_CONNECTIONS in MediaPipe's Python solutions.
constexpr std::array<std::string_view, 33> kPoseNames = {
    "nose",        "left eye inner",  "left eye",       "left eye outer", "right eye inner",
    "right eye",   "right eye outer", "left ear",       "right ear",      "mouth left",
    "mouth right", "left shoulder",   "right shoulder", "left elbow",     "right elbow",
    "left wrist",  "right wrist",     "left little",    "right little",   "left index",
    "right index", "left thumb",      "right thumb",    "left hip",       "right hip",
    "left knee",   "right knee",      "left ankle",     "right ankle",    "left heel",
    "right heel",  "left foot",       "right foot"};

constexpr std::array<Limb, 35> kPoseLimbs =
    LimbsThrough<35>({8,  6,  5,  4,  0,  1,  2,  3,  7,  -1, 9,  10, -1, 12, 11, 13, 15, 17, 19, 15, 21, -1, 12, 14,
                      16, 18, 20, 16, 22, -1, 11, 23, 24, 12, -1, 23, 25, 27, 29, 31, 27, -1, 24, 26, 28, 30, 32, 28});

// Oval, lips, eyes and brows: FACEMESH_CONTOURS in MediaPipe's Python solutions.
constexpr std::array<Limb, 124> kFaceLimbs = LimbsThrough<124>(
    {10,  338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377, 152, 148, 176,
     149, 150, 136, 172, 58,  132, 93,  234, 127, 162, 21,  54,  103, 67,  109, 10,  -1,  61,  146, 91,  181,
     84,  17,  314, 405, 321, 375, 291, 409, 270, 269, 267, 0,   37,  39,  40,  185, 61,  -1,  78,  95,  88,
     178, 87,  14,  317, 402, 318, 324, 308, 415, 310, 311, 312, 13,  82,  81,  80,  191, 78,  -1,  263, 249,
     390, 373, 374, 380, 381, 382, 362, 398, 384, 385, 386, 387, 388, 466, 263, -1,  33,  7,   163, 144, 145,
     153, 154, 155, 133, 173, 157, 158, 159, 160, 161, 246, 33,  -1,  276, 283, 282, 295, 285, -1,  300, 293,
     334, 296, 336, -1,  46,  53,  52,  65,  55,  -1,  70,  63,  105, 66,  107});

constexpr std::array<Skeleton, 5> kSkeletons = {{{"body", kBodyNames.size(), kBodyNames, kBodyLimbs},
                                                 {"body", kPoseNames.size(), kPoseNames, kPoseLimbs},
                                                 {"hand", kHandNames.size(), kHandNames, kHandLimbs},
                                                 {"face", 468, {}, kFaceLimbs},
                                                 {"face", 478, {}, kFaceLimbs}}};
constexpr std::array<Skeleton, 3> kBoxSkeletons = {{{"face", kFaceNames.size(), kFaceNames, {}},
                                                    {"palm", kPalmNames.size(), kPalmNames, {}},
                                                    {"person", kPersonNames.size(), kPersonNames, {}}}};

const Skeleton* FindIn(std::span<const Skeleton> skeletons, size_t point_count) {
  const auto found = std::find_if(skeletons.begin(), skeletons.end(),
                                  [&](const Skeleton& skeleton) { return skeleton.point_count == point_count; });
  return found == skeletons.end() ? nullptr : &*found;
}

}  // namespace

const Skeleton* SkeletonOf(size_t point_count) {
  return FindIn(kSkeletons, point_count);
}

const Skeleton* BoxSkeletonOf(size_t point_count) {
  return FindIn(kBoxSkeletons, point_count);
}

const Skeleton* CornersSkeleton() {
  return &kCorners;
}

std::string PointName(const Skeleton* skeleton, size_t point) {
  if (skeleton == nullptr || point >= skeleton->point_names.size()) return std::to_string(point);
  return std::string(skeleton->point_names[point]);
}

}  // namespace hearth
