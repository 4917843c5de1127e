// Constants that are made of a model's file when somebody reads them: elements in another order than that of their
// dimensions, as filters of ONNX have them, and filters that are multiplied by numbers, as batch normalization does.
#ifndef HEARTH_CORE_GRAPH_STORED_ELEMENTS_H_
#define HEARTH_CORE_GRAPH_STORED_ELEMENTS_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "core/graph/strided_view.h"
#include "hearth/status.h"

namespace hearth {

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
  friend bool operator==(const StoredForm&, const StoredForm&) = default;
};

// kMalformedInput unless the form makes as many elements (of 1, 2, 4 or 8 bytes) of the bytes as there are.
Status CheckForm(const StoredForm& form, int64_t element_bytes, size_t size_bytes);

// Bytes of a constant in the order of its dimensions, valid as long as this exists.
struct OrderedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const std::byte[]> own = {};  // those that were made
};

// The elements in this form, in memory that is aligned for all types. Precondition: CheckForm.
OrderedBytes InForm(const StoredForm& form, int64_t element_bytes, std::span<const std::byte> from);

// What makes a constant's elements when somebody reads them. The copies of a graph share it. Thread-safe.
class StoredElements {
 public:
  StoredElements(StoredForm form, int64_t element_bytes) : form_(std::move(form)), element_bytes_(element_bytes) {}

  const StoredForm& form() const { return form_; }
  int64_t element_bytes() const { return element_bytes_; }
  // Of `from`, whose bytes are always the same ones: as long as somebody has the result, there is one of it.
  OrderedBytes Ordered(std::span<const std::byte> from) const;
  // The same, valid as long as this object.
  std::span<const std::byte> Kept(std::span<const std::byte> from) const;

 private:
  const StoredForm form_;
  const int64_t element_bytes_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const std::byte[]> made_;
  mutable std::shared_ptr<const std::byte[]> kept_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_STORED_ELEMENTS_H_
