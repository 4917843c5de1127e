#include "tests/conformance/tolerance.h"

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

double Tolerance(const Exactness& exactness, std::span<const double> reference) {
  double magnitude = std::sqrt(static_cast<double>(exactness.terms));
  for (double number : reference) {
    if (std::isfinite(number)) magnitude = std::max(magnitude, std::fabs(number));
  }
  return std::numeric_limits<float>::epsilon() * (static_cast<double>(exactness.terms) + exactness.ulps) * magnitude;
}

Judgement Judge(const Exactness& exactness, std::span<const double> reference, std::span<const float> result) {
  Judgement judgement;
  judgement.tolerance = Tolerance(exactness, reference);
  for (size_t k = 0; k < reference.size(); ++k) {
    const double error = Difference(reference[k], result[k]);
    if (error <= judgement.worst_error) continue;
    judgement.worst_error = error;
    judgement.worst_index = k;
  }
  return judgement;
}

}  // namespace hearth::conformance
