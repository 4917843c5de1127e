#include "core/graph/stored_elements.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/float16.h"
#include "core/base/numbers.h"
#include "core/graph/element.h"
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

// Precondition: CheckForm.
int64_t CountOf(const StridedView& view) {
  int64_t count = 1;
  for (const auto& [radix, stride] : view.digits) count *= radix;
  return count;
}

int64_t BitsInFile(FileType type, int64_t bits) {
  switch (type) {
    case FileType::kSame: return bits;
    case FileType::kFloat16:
    case FileType::kBFloat16: return 16;
    case FileType::kInt4:
    case FileType::kUInt4: return 4;
    case FileType::kInt2:
    case FileType::kUInt2: return 2;
  }
  return 0;
}

// Bits of the elements that are made before integers of 4 bits share a byte.
int64_t BitsOfWide(FileType type) {
  return BitsInFile(type, 0) == 16 ? 32 : 8;
}

// Integers that share bytes, the first one lowest, as bytes. The highest bit of a signed one is its sign.
template <int kBits>
void WidenIntegers(bool has_sign, std::span<const std::byte> from, std::span<std::byte> wide) {
  constexpr int kPerByte = 8 / kBits, kLowBits = (1 << kBits) - 1;
  const int sign = has_sign ? 1 << (kBits - 1) : 0;
  const auto widened = [&](size_t k) {
    const int number = std::to_integer<int>(from[k / kPerByte]) >> (k % kPerByte * kBits) & kLowBits;
    return static_cast<std::byte>((number ^ sign) - sign);
  };
  for (size_t k = 0; k < wide.size(); ++k) wide[k] = widened(k);
}

void Widen(FileType type, std::span<const std::byte> from, std::span<std::byte> wide) {
  const auto count = static_cast<int64_t>(wide.size() / sizeof(float));
  switch (type) {
    case FileType::kFloat16:
      for (int64_t k = 0; k < count; ++k) StoreAt(wide.data(), k, HalfToFloat(LoadAt<uint16_t>(from.data(), k)));
      return;
    case FileType::kBFloat16:
      for (int64_t k = 0; k < count; ++k) StoreAt(wide.data(), k, uint32_t{LoadAt<uint16_t>(from.data(), k)} << 16);
      return;
    case FileType::kInt4:
    case FileType::kUInt4: return WidenIntegers<4>(type == FileType::kInt4, from, wide);
    case FileType::kInt2:
    case FileType::kUInt2: return WidenIntegers<2>(type == FileType::kInt2, from, wide);
    case FileType::kSame: return;
  }
}

}  // namespace

std::vector<std::byte> InNibbles(std::span<const std::byte> integers) {
  std::vector<std::byte> made((integers.size() + 1) / 2);
  for (size_t k = 0; k < integers.size() / 2; ++k)
    made[k] = (integers[2 * k] & std::byte{15}) | integers[2 * k + 1] << 4;
  if (integers.size() % 2 != 0) made.back() = integers.back() & std::byte{15};
  return made;
}

Status CheckForm(const StoredForm& form, int64_t bits, size_t size_bytes) {
  const bool is_same = form.type == FileType::kSame;
  const bool has_size = bits == 4 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
  const bool fits = is_same ? bits > 4 : bits == BitsOfWide(form.type) || (bits == 4 && BitsOfWide(form.type) == 8);
  const int64_t in_file = BitsInFile(form.type, bits), file_bits = 8 * static_cast<int64_t>(size_bytes);
  // Of the bits of the last byte, some belong to no element.
  const auto has_count = [&](int64_t count) {
    return count > 0 && RoundUp<int64_t>(count * in_file, 8) == file_bits && Reorders(form.view, count);
  };
  const int64_t most = has_size && fits ? file_bits / in_file : 0, spare = in_file < 8 ? 8 / in_file : 1;
  int64_t count = most;
  while (count > std::max<int64_t>(0, most - spare) && !has_count(count)) --count;
  const bool are_factors = std::ranges::all_of(form.factors, [&](const StoredForm::Factors& factors) {
    return bits == 32 && !factors.numbers.empty() && count % ssize(factors.numbers) == 0;
  });
  if (has_count(count) && are_factors) return Status::Ok();
  return Error(StatusCode::kMalformedInput, "{} bytes of elements of {} bits have no such form", size_bytes, bits);
}

OrderedBytes InForm(const StoredForm& form, int64_t bits, std::span<const std::byte> from) {
  const auto count = static_cast<size_t>(CountOf(form.view));
  const bool is_same = form.type == FileType::kSame;
  const int64_t wide_bits = is_same ? bits : BitsOfWide(form.type);
  const size_t size = count * static_cast<size_t>(wide_bits / 8);
  std::shared_ptr<std::byte[]> own(new std::byte[size]), wide;  // not filled with zeros first
  const StridedView view = Simplified(form.view);
  if (!is_same) {
    wide = view.is_identity() ? own : std::shared_ptr<std::byte[]>(new std::byte[size]);
    Widen(form.type, from, {wide.get(), size});
    from = {wide.get(), size};
  }
  if (from.data() != own.get()) CopyView(view, wide_bits / 8, from.data(), own.get());
  for (const auto& [by_row, numbers] : form.factors) {
    const std::span floats(reinterpret_cast<float*>(own.get()), count);
    by_row ? ScaleRows(floats, numbers) : ScaleColumns(floats, numbers);
  }
  if (bits != 4) return {{own.get(), size}, own};
  const auto nibbles = std::make_shared<const std::vector<std::byte>>(InNibbles({own.get(), size}));
  return {*nibbles, {nibbles, nibbles->data()}};
}

size_t StoredElements::size_bytes() const {
  return static_cast<size_t>(RoundUp<int64_t>(CountOf(form_.view) * bits_, 8) / 8);
}

OrderedBytes StoredElements::Ordered(std::span<const std::byte> from) const {
  const std::scoped_lock lock(mutex_);
  if (std::shared_ptr<const std::byte[]> made = made_.lock()) return {{made.get(), size_bytes()}, made};
  OrderedBytes made = InForm(form_, bits_, from);
  made_ = made.own;
  return made;
}

std::span<const std::byte> StoredElements::Kept(std::span<const std::byte> from) const {
  const OrderedBytes ordered = Ordered(from);
  const std::scoped_lock lock(mutex_);
  if (kept_ == nullptr) kept_ = ordered.own;
  return {kept_.get(), size_bytes()};
}

}  // namespace hearth
