// How far two results of one tensor lie apart, and whether that is too far.
#ifndef HEARTH_TOOLS_HEARTH_COMPARISON_H_
#define HEARTH_TOOLS_HEARTH_COMPARISON_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hearth/status.h"
#include "hearth/tensor_info.h"

namespace hearth {

// What is allowed, by the tensor's type: real numbers 1e-4 (precision fp32) or 2e-2 (fp16, fp32_16) of the larger of 1
// and the largest magnitude on the other side; quantized numbers at most 1 % of the elements further than 2 steps;
// whole numbers and truth values at most 2 % of the elements different.
struct TensorComparison {
  TensorInfo info;
  double max_difference = 0, mean_difference = 0;  // real numbers; one that is NaN on one side only counts as infinity
  double allowed_difference = 0;                   // of an element
  size_t element_count = 0, elements_over = 0;     // all, and those further off than that
  double allowed_share_over = 0;
  size_t worst = 0;             // index of the element with the largest difference
  double ours = 0, theirs = 0;  // its values
  bool is_over = false;

  // 1: as far off as is allowed.
  double ratio() const;
  double share_over() const;  // of the elements, those that are further off than allowed
};

double RealTolerance(const std::string& precision);  // 1e-4 or 2e-2

// kUnsupported for element types that have no numbers. Precondition: both are dense tensors of `info`.
Result<TensorComparison> CompareTensors(const TensorInfo& info, std::span<const std::byte> ours,
                                        std::span<const std::byte> theirs, double real_tolerance);

// "[0,3,7,12]", the place of an element.
std::string PlaceText(const TensorInfo& info, size_t element);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_COMPARISON_H_
