// Constants that are made of a model's file when somebody reads them: elements in another order than that of their
// dimensions, as filters of ONNX have them, filters that are multiplied by numbers, as batch normalization does, and
// types that only files have.
#ifndef HEARTH_CORE_GRAPH_STORED_ELEMENTS_H_
#define HEARTH_CORE_GRAPH_STORED_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/strided_view.h"
#include "hearth/status.h"

namespace hearth {

// The type of elements in a file, where it is another one than the constant's: floats as float32, integers as bytes.
enum class FileType : uint8_t { kSame, kFloat16, kBFloat16, kInt4, kUInt4, kInt2, kUInt2 };

// What is to be done with the elements of a file.
struct StoredForm {
  // Of floats: a number for each row, or for each column (quantize.h, ScaleRows and ScaleColumns).
  struct Factors {
    bool by_row = false;
    std::vector<float> numbers;
    friend bool operator==(const Factors&, const Factors&) = default;
  };
  StridedView view;  // reads all of them, in the constant's order
  std::vector<Factors> factors = {};
  FileType type = FileType::kSame;  // else a constant's elements have 32 bits for floats, 8 or 4 for integers
  friend bool operator==(const StoredForm&, const StoredForm&) = default;
};

// kMalformedInput unless the form makes as many elements (of 4, 8, 16, 32 or 64 bits) of the bytes as there are.
Status CheckForm(const StoredForm& form, int64_t bits, size_t size_bytes);

// Bytes of a constant in the order of its dimensions, valid as long as this exists.
struct OrderedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const std::byte[]> own = {};  // those that were made
};

// The elements in this form, in memory that is aligned for all types. Precondition: CheckForm.
OrderedBytes InForm(const StoredForm& form, int64_t bits, std::span<const std::byte> from);

// Integers of 4 bits, two in a byte, the first one lowest, of the low bits of bytes.
std::vector<std::byte> InNibbles(std::span<const std::byte> integers);

// What makes a constant's elements when somebody reads them. The copies of a graph share it. Thread-safe.
class StoredElements {
 public:
  StoredElements(StoredForm form, int64_t bits) : form_(std::move(form)), bits_(bits) {}

  const StoredForm& form() const { return form_; }
  // Whether the file has the elements as they are, only in another order.
  bool is_only_view() const { return form_.factors.empty() && form_.type == FileType::kSame; }
  int64_t bits() const { return bits_; }  // of an element as it is made
  size_t size_bytes() const;              // of all of them
  // Of `from`, whose bytes are always the same ones: as long as somebody has the result, there is one of it.
  OrderedBytes Ordered(std::span<const std::byte> from) const;
  // The same, valid as long as this object.
  std::span<const std::byte> Kept(std::span<const std::byte> from) const;

 private:
  const StoredForm form_;
  const int64_t bits_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const std::byte[]> made_;
  mutable std::shared_ptr<const std::byte[]> kept_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_STORED_ELEMENTS_H_
