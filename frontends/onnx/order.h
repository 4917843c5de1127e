// The two orders that a tensor of an ONNX graph may have, and what leads from one to the other.
#ifndef HEARTH_FRONTENDS_ONNX_ORDER_H_
#define HEARTH_FRONTENDS_ONNX_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "frontends/writer/node_writer.h"

namespace hearth::onnx {

// The order of the dimensions of a value.
enum class Order : uint8_t { kPlain, kLast };

// A tensor as a value, or as the same one with dimension 1 at the end, or as both. ONNX's pictures have the order NCHW,
// Hearth's operations NHWC: each operation makes the order that it has at hand, and readers get the other one by need.
struct Tensor {
  ValueId plain = kNoValue;  // the order of the file
  ValueId last = kNoValue;   // dimension 1 ("channels") at the end; only from rank 3 on
  // A constant as the file has it, for readers of weights: in 8 or 16 bits that stand for real numbers, or at an odd
  // address. `plain` is made of it once another reader wants it.
  ValueId stored = kNoValue;
  // The same of a tensor [K,N] as a layer has it, [N,K], whose blocks of K have scales of their own.
  ValueId turned = kNoValue;
  // Of a sequence, which is no tensor: its tensors, in plain order.
  std::shared_ptr<const std::vector<ValueId>> list;

  // The order that exists without a transpose, and the value that has it; kNoValue where there is only `stored`.
  Order order() const { return plain == kNoValue && last != kNoValue ? Order::kLast : Order::kPlain; }
  ValueId value() const { return plain == kNoValue ? last : plain; }
  bool is_made() const { return value() != kNoValue || stored != kNoValue || turned != kNoValue || list; }
};

// Whether a constant stands for real numbers in fewer bits: others than readers of weights have it as float32.
inline bool IsOfFewBits(const TensorDesc& desc) {
  return desc.quantization.has_value() || desc.dtype == DType::kFloat16;
}

using Results = Result<std::vector<Tensor>>;

inline Tensor TensorIn(Order order, ValueId value) {
  return order == Order::kLast ? Tensor{.last = value} : Tensor{.plain = value};
}
inline Results InOrder(Order order, const Made& value) {
  if (!value.ok()) return value.status();
  return std::vector{TensorIn(order, *value)};
}
inline Results Plain(const Made& value) {
  return InOrder(Order::kPlain, value);
}
inline Results Last(const Made& value) {
  return InOrder(Order::kLast, value);
}
// The same of several; kNoValue for one that is not made.
Results InOrder(Order order, const Operands& values);
inline Results Plain(const Operands& values) {
  return InOrder(Order::kPlain, values);
}
// All dimensions between the first and the last one.
inline uint32_t SpatialAxes(int rank) {
  uint32_t axes = 0;
  for (int d = 1; d < rank - 1; ++d) axes |= 1u << d;
  return axes;
}
// Where dimension `axis` of the file lies in this order.
int AxisIn(Order order, int axis, int rank);

// The shape in the file's order of a value whose channels come last.
Shape PlainShape(const Shape& last);

// The same with the other order, by a transpose, or by a reshape where that suffices.
Made ToOrder(NodeWriter& to, ValueId value, Order from, Order order);
// AddTranspose that moves the bytes of a constant while the model is read, whatever its size.
Made AddPermuted(NodeWriter& to, const Made& value, Shape permutation);
// A constant as readers of floats take it: widened from 8 bits, or copied from an odd address; others are returned.
Made AddReadable(NodeWriter& to, ValueId stored);
// Whether the bytes lie where elements of this type can be read: a multiple of their size, at most four.
bool IsAligned(DType dtype, std::span<const std::byte> bytes);
// A constant of one number with the type of another value, as a scalar.
inline Made AddScalarLike(NodeWriter& to, ValueId like, double number) {
  return to.AddConstant(Shape(), to.desc(like).dtype, {number});
}

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_ORDER_H_
