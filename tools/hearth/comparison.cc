#include "tools/hearth/comparison.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "tools/hearth/model_outputs.h"

namespace hearth {
namespace {

constexpr double kQuantizedSteps = 2, kQuantizedShareOver = 0.01, kWholeShareOver = 0.02;

double DifferenceOf(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double difference = std::fabs(a - b);
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

double LargestFinite(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  return largest;
}

void SetAllowed(std::span<const double> theirs, double real_tolerance, TensorComparison& result) {
  const std::string& dtype = result.info.dtype;
  if (dtype == "float32" || dtype == "float16" || dtype == "float64") {
    result.allowed_difference = real_tolerance * std::max(1.0, LargestFinite(theirs));
  } else if (!result.info.scales.empty()) {
    const float step = *std::max_element(result.info.scales.begin(), result.info.scales.end());
    // A tensor with several scales is compared in steps: it was not dequantized.
    result.allowed_difference = kQuantizedSteps * (result.info.scales.size() == 1 ? static_cast<double>(step) : 1.0);
    result.allowed_difference *= 1 + 1e-6;  // for the roundings of dequantizing
    result.allowed_share_over = kQuantizedShareOver;
  } else {
    result.allowed_share_over = kWholeShareOver;
  }
}

}  // namespace

double TensorComparison::ratio() const {
  const double share = share_over();
  if (allowed_share_over > 0) return share / allowed_share_over;
  return allowed_difference > 0 ? max_difference / allowed_difference : 0;
}

double TensorComparison::share_over() const {
  return element_count == 0 ? 0 : static_cast<double>(elements_over) / static_cast<double>(element_count);
}

double RealTolerance(const std::string& precision) {
  return precision == "fp32" ? 1e-4 : 2e-2;
}

Result<TensorComparison> CompareTensors(const TensorInfo& info, std::span<const std::byte> ours,
                                        std::span<const std::byte> theirs, double real_tolerance) {
  HEARTH_ASSIGN(const std::vector<double> a, OutputAsReals(info, ours));
  HEARTH_ASSIGN(const std::vector<double> b, OutputAsReals(info, theirs));
  if (a.size() != b.size()) {
    return Error(StatusCode::kInternal, "'{}' has {} elements here and {} there", info.name, a.size(), b.size());
  }
  TensorComparison result;
  result.info = info;
  result.element_count = a.size();
  SetAllowed(b, real_tolerance, result);
  for (size_t k = 0; k < a.size(); ++k) {
    const double difference = DifferenceOf(a[k], b[k]);
    result.mean_difference += difference / static_cast<double>(a.size());
    result.elements_over += difference > result.allowed_difference ? 1 : 0;
    if (difference <= result.max_difference && k > 0) continue;
    result.max_difference = difference;
    result.worst = k;
    result.ours = a[k];
    result.theirs = b[k];
  }
  result.is_over = result.share_over() > result.allowed_share_over;
  return result;
}

std::string PlaceText(const TensorInfo& info, size_t element) {
  std::vector<size_t> place(info.shape.size());
  for (size_t d = place.size(); d-- > 0;) {
    const auto size = static_cast<size_t>(std::max(1, info.shape[d]));
    place[d] = element % size;
    element /= size;
  }
  return fmt::format("[{}]", fmt::join(place, ","));
}

}  // namespace hearth
