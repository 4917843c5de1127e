// The allowed difference between a device's result and the float64 reference.
#ifndef HEARTH_CONFORMANCE_TOLERANCE_H_
#define HEARTH_CONFORMANCE_TOLERANCE_H_

#include <span>

#include "conformance/conformance_case.h"

namespace hearth::conformance {

struct Judgement {
  double worst_error = 0;  // infinite if the device's number is not finite and the reference's is
  double tolerance = 0;
  size_t worst_index = 0;
  size_t wrong_elements = 0;  // off by more than the tolerance
  bool ok() const { return worst_error <= tolerance; }
};

// The largest difference allowed for any element of a result:
//
//   tolerance = eps * (terms + ulps) * magnitude,   eps = 2^-23
//   magnitude = max(largest |reference element|, sqrt(terms))
//
// A sum of n products in any order, fused or not, is off by at most n * (eps / 2) * (sum of the products' magnitudes)
// (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). That sum is bounded by n for the suite's data
// in [-1, 1], which would allow errors as large as a dropped product; its typical partial sum is sqrt(n), because
// signs alternate, so that stands for it. `ulps` are roundings outside of the sum: an activation, a division, a
// function that a driver builds from others. With no terms and no ulps a result must be exact.
//
// With float16 storage the result and the roundings in `ulps` are also rounded to 11 bits; the data are numbers that
// float16 holds, and sums are still float32. A quantized result may also be one step of its grid off, if the exact one
// is near the middle between two.
//
// If a kernel adds blocks of b products in 16 bits and the blocks in 32 (core/emit/arithmetic.h), with u = 2^-11: a
// block is off by at most b u of its products' magnitudes (Higham, as above), for which sqrt(b) stands. terms / b
// independent errors add up to sqrt(terms / b) of one:
//
//   tolerance += u * min(b, terms) * magnitude
struct ResultFormat {
  StorageType real = StorageType::kFloat32;
  double step = 0;        // of a quantized result's grid
  int half_products = 0;  // b; 0: all sums have 32 bits
};
double Tolerance(const Exactness& exactness, std::span<const double> reference, const ResultFormat& format = {});

// Precondition: equally many elements.
Judgement Judge(const Exactness& exactness, std::span<const double> reference, std::span<const double> result,
                const ResultFormat& format = {});

}  // namespace hearth::conformance

#endif  // HEARTH_CONFORMANCE_TOLERANCE_H_
