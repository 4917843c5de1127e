#include "core/graph/constant_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/graph/element.h"

namespace hearth {
namespace {

constexpr int64_t kMaxElementsInText = 64;
constexpr int64_t kMaxTextConstantElements = int64_t{1} << 28;

std::string ElementText(DType dtype, std::span<const std::byte> bytes, int64_t index) {
  const double number = LoadElement(dtype, bytes, index);
  if (dtype == DType::kFloat64) return fmt::format("{}", number);
  // Formatted as float: the shortest text that reads back as the same float is shorter than a double's.
  return IsFloat(dtype) ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{:.0f}", number);
}

bool AllEqual(DType dtype, std::span<const std::byte> bytes, int64_t count) {
  const double first = LoadElement(dtype, bytes, 0);
  for (int64_t i = 1; i < count; ++i) {
    if (LoadElement(dtype, bytes, i) != first) return false;
  }
  return first == first;
}

// Pseudo-random numbers that depend only on the seed text: FNV-1a as seed, then the 64-bit linear congruential
// generator of Knuth's MMIX.
class Pattern {
 public:
  explicit Pattern(std::string_view seed) {
    for (char c : seed) state_ = (state_ ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  }
  double Next(DType dtype) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    const int64_t number = static_cast<int64_t>(state_ >> 57);  // 0 to 127
    if (dtype == DType::kBool) return static_cast<double>(number & 1);
    if (dtype == DType::kInt4) return static_cast<double>(number & 7);
    return IsFloat(dtype) ? (static_cast<double>(number) - 63.5) / 64.0 : static_cast<double>(number);
  }

 private:
  uint64_t state_ = 14695981039346656037ull;
};

Status ReadElements(TextScanner& scanner, DType dtype, int64_t count, std::span<std::byte> bytes) {
  for (int64_t i = 0; i < count; ++i) {
    double number = 0;
    if (i > 0 && !scanner.Take(',')) {
      return Error(StatusCode::kMalformedInput, "a constant of {} elements lists {}", count, i);
    }
    if (!scanner.Number(number))
      return Error(StatusCode::kMalformedInput, "element {} of a constant is not a number", i);
    StoreElement(dtype, bytes, i, number);
  }
  if (!scanner.Take('}')) {
    return Error(StatusCode::kMalformedInput, "expected '}}' after {} elements of a constant", count);
  }
  return Status::Ok();
}

}  // namespace

std::string ConstantToText(const TensorDesc& desc, std::span<const std::byte> bytes) {
  const std::optional<int64_t> count = CheckedElementCount(desc.shape);
  if (!count || bytes.size() != desc.size_bytes()) return "fill(pattern)";
  if (*count <= kMaxElementsInText) {
    std::vector<std::string> elements;
    for (int64_t i = 0; i < *count; ++i) elements.push_back(ElementText(desc.dtype, bytes, i));
    return fmt::format("{{{}}}", fmt::join(elements, ", "));
  }
  if (AllEqual(desc.dtype, bytes, *count)) return fmt::format("fill({})", ElementText(desc.dtype, bytes, 0));
  return "fill(pattern)";
}

Result<std::vector<std::byte>> ConstantFromText(TextScanner& scanner, const TensorDesc& desc, std::string_view name) {
  const std::optional<int64_t> count = CheckedElementCount(desc.shape);
  if (!count || *count > kMaxTextConstantElements) {
    return Error(StatusCode::kResourceExhausted, "a constant of shape {} is too large", desc.shape.ToString());
  }
  std::vector<std::byte> bytes(desc.size_bytes());
  if (scanner.Take('{')) {
    HEARTH_TRY(ReadElements(scanner, desc.dtype, *count, bytes));
    return bytes;
  }
  if (!scanner.TakeWord("fill") || !scanner.Take('(')) {
    return Error(StatusCode::kMalformedInput, "expected the contents of a constant: {{...}} or fill(...)");
  }
  Pattern pattern(name);
  double number = 0;
  const bool from_pattern = scanner.TakeWord("pattern");
  if (!from_pattern && !scanner.Number(number)) {
    return Error(StatusCode::kMalformedInput, "expected 'pattern' or a number in fill(...)");
  }
  for (int64_t i = 0; i < *count; ++i) {
    StoreElement(desc.dtype, bytes, i, from_pattern ? pattern.Next(desc.dtype) : number);
  }
  if (!scanner.Take(')')) return Error(StatusCode::kMalformedInput, "expected ')' after fill(...");
  return bytes;
}

}  // namespace hearth
