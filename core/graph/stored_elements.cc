#include "core/graph/stored_elements.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

bool Reorders(const StridedView& view, int64_t count) {
  if (view.base < 0 || view.base >= count) return false;
  int64_t made = 1, first = view.base, last = view.base;  // of the elements that are read
  for (const auto& [radix, stride] : view.digits) {
    const bool is_small = radix > 0 && radix <= count / made && stride >= -count && stride <= count;
    if (!is_small || (stride != 0 && radix - 1 > count / std::abs(stride))) return false;
    made *= radix;
    (stride < 0 ? first : last) += (radix - 1) * stride;
    if (first < 0 || last >= count) return false;
  }
  return made == count;
}

}  // namespace

Status CheckForm(const StoredForm& form, int64_t element_bytes, size_t size_bytes) {
  const bool has_size = element_bytes == 1 || element_bytes == 2 || element_bytes == 4 || element_bytes == 8;
  const int64_t count = has_size ? static_cast<int64_t>(size_bytes) / element_bytes : 0;
  const bool is_whole = count > 0 && size_bytes % static_cast<size_t>(element_bytes) == 0;
  const bool are_factors = std::ranges::all_of(form.factors, [&](const StoredForm::Factors& factors) {
    return element_bytes == sizeof(float) && !factors.numbers.empty() && count % ssize(factors.numbers) == 0;
  });
  if (is_whole && are_factors && Reorders(form.view, count)) return Status::Ok();
  return Error(StatusCode::kMalformedInput, "{} bytes of elements of {} bytes have no such form", size_bytes,
               element_bytes);
}

OrderedBytes InForm(const StoredForm& form, int64_t element_bytes, std::span<const std::byte> from) {
  std::shared_ptr<std::byte[]> own(new std::byte[from.size()]);  // not filled with zeros first
  CopyView(Simplified(form.view), element_bytes, from.data(), own.get());
  for (const auto& [by_row, numbers] : form.factors) {
    const std::span floats(reinterpret_cast<float*>(own.get()), from.size() / sizeof(float));
    by_row ? ScaleRows(floats, numbers) : ScaleColumns(floats, numbers);
  }
  return {{own.get(), from.size()}, own};
}

OrderedBytes StoredElements::Ordered(std::span<const std::byte> from) const {
  const std::scoped_lock lock(mutex_);
  if (std::shared_ptr<const std::byte[]> made = made_.lock()) return {{made.get(), from.size()}, made};
  OrderedBytes made = InForm(form_, element_bytes_, from);
  made_ = made.own;
  return made;
}

std::span<const std::byte> StoredElements::Kept(std::span<const std::byte> from) const {
  const OrderedBytes ordered = Ordered(from);
  const std::scoped_lock lock(mutex_);
  if (kept_ == nullptr) kept_ = ordered.own;
  return {kept_.get(), from.size()};
}

}  // namespace hearth
