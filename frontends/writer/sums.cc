// Sums of products of integers by float32.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/writer/expansions.h"

namespace hearth {

Made AddWholeSums(NodeWriter& to, const Made& sums) {
  return to.AddCast(to.Add(UnaryKind::kRound, sums), DType::kInt32);
}

Made AddSumOfParts(NodeWriter& to, int32_t depth, int32_t part,
                   const std::function<Made(int32_t, int32_t)>& product_of) {
  HEARTH_TRY(to.budget().ChargeOperators(4 * (int64_t{depth} / part + 1)));
  Made sum(kNoValue);
  for (int32_t first = 0; first == 0 || first < depth; first += part) {
    const Made product = AddWholeSums(to, product_of(first, std::min(part, depth - first)));
    sum = first == 0 ? product : to.Add(BinaryKind::kAdd, {sum, product});
    HEARTH_TRY(sum.status());
  }
  return sum;
}

}  // namespace hearth
