#include "conformance/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hearth::conformance {
namespace {

double Difference(double reference, double result) {
  if (reference == result || (std::isnan(reference) && std::isnan(result))) return 0.0;
  const double difference = std::fabs(reference - result);
  return std::isfinite(difference) ? difference : std::numeric_limits<double>::infinity();
}

}  // namespace

double Tolerance(const Exactness& exactness, std::span<const double> reference, const ResultFormat& format) {
  const double roundings = static_cast<double>(exactness.terms) + exactness.ulps;
  if (roundings == 0) return 0;
  double largest = 0;
  for (double number : reference) {
    if (std::isfinite(number)) largest = std::max(largest, std::fabs(number));
  }
  const double magnitude = std::max(largest, std::sqrt(static_cast<double>(exactness.terms)));
  double tolerance = std::numeric_limits<float>::epsilon() * roundings * magnitude;
  if (format.real == StorageType::kFloat16) tolerance += 0x1p-11 * (1 + exactness.ulps) * largest;
  tolerance += 0x1p-11 * static_cast<double>(std::min<int64_t>(format.half_products, exactness.terms)) * magnitude;
  return tolerance + format.step * (1 + std::numeric_limits<float>::epsilon());
}

Judgement Judge(const Exactness& exactness, std::span<const double> reference, std::span<const double> result,
                const ResultFormat& format) {
  Judgement judgement;
  judgement.tolerance = Tolerance(exactness, reference, format);
  for (size_t k = 0; k < reference.size(); ++k) {
    const double error = Difference(reference[k], result[k]);
    if (error > judgement.tolerance) ++judgement.wrong_elements;
    if (error <= judgement.worst_error) continue;
    judgement.worst_error = error;
    judgement.worst_index = k;
  }
  return judgement;
}

}  // namespace hearth::conformance
