// Concatenation, reshaping and resizing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "conformance/conformance_case.h"

namespace hearth::conformance {
namespace {

// `sizes`: one per input, along the axis.
ConformanceCase ConcatCase(Shape shape, int32_t axis, const std::vector<int32_t>& sizes, Activation activation,
                           const ElementType& type = {}) {
  const std::string name =
      fmt::format("{}_axis{}_{}_{}{}", shape, axis, fmt::join(sizes, "+"), ActivationName(activation),
                  type.dtype == DType::kFloat32 ? "" : fmt::format("_{}", DTypeName(type.dtype)));
  std::vector<Operand> inputs;
  for (int32_t size : sizes) {
    shape[axis < 0 ? axis + shape.rank() : axis] = size;
    inputs.push_back(In(shape, type.dtype == DType::kBool ? ZeroOne : Wide, type));
  }
  return OneNode({"concat", name}, {0, activation == Activation::kTanh ? 16.0 : 0.0}, Concat{axis, activation}, inputs,
                 type);
}

void AddConcat(std::vector<ConformanceCase>& cases) {
  const Activation none = Activation::kNone;
  for (const auto& sizes :
       {std::vector<int32_t>{4, 8}, {3, 5}, {1, 1, 1, 1}, {5, 1, 7}, {17, 3}, {4, 3, 4}, {2, 6, 9, 4}}) {
    cases.push_back(ConcatCase({1, 3, 5, 1}, -1, sizes, none));
    cases.push_back(ConcatCase({2, 2, 3, 1}, 3, sizes, Activation::kRelu6));
  }
  for (int32_t axis : {0, 1, 2}) {
    for (const auto& sizes : {std::vector<int32_t>{1, 2}, {2, 3, 1}, {1, 1, 3, 2}}) {
      for (int32_t channels : {3, 8}) cases.push_back(ConcatCase({2, 3, 4, channels}, axis, sizes, none));
    }
  }
  cases.push_back(ConcatCase({3, 5}, 0, {1, 2}, none));
  cases.push_back(ConcatCase({3, 5}, 1, {3, 2, 6}, none));
  cases.push_back(ConcatCase({2, 3, 5}, 1, {3, 2}, none));
  cases.push_back(ConcatCase({7}, 0, {7, 2}, none));
  cases.push_back(ConcatCase({66000, 1, 2}, 1, {1, 2}, none));  // more rows than one grid dimension takes
  cases.push_back(ConcatCase({1, 2, 2, 3}, 3, {3, 3}, Activation::kTanh));
  for (int32_t axis : {0, 1, 2, 3, 4}) cases.push_back(ConcatCase({2, 3, 2, 2, 3}, axis, {3, 1}, none));
  cases.push_back(ConcatCase({2, 3, 2, 2, 3, 2}, 2, {1, 2}, none));
  cases.push_back(ConcatCase({2, 2, 1, 2, 3, 1, 2, 3}, 3, {1, 2}, none));
  cases.push_back(ConcatCase({1, 2, 2, 3}, 3, {4, 3, 2}, Activation::kTanh));
  cases.push_back(ConcatCase({1, 2, 2, 3}, 1, {1, 3}, Activation::kReluN1To1));
  for (const ElementType& type : {Integers(), Bools(), Quantized(DType::kInt8, 0.5f, -3)}) {
    cases.push_back(ConcatCase({2, 3, 5, 1}, 3, {3, 5, 4}, none, type));
    cases.push_back(ConcatCase({2, 3, 5, 3}, 1, {2, 1}, none, type));
  }
}

void AddReshape(std::vector<ConformanceCase>& cases) {
  const std::pair<Shape, Shape> pairs[] = {
      {{1, 4, 5, 6}, {1, 120}},      {{2, 3, 4, 5}, {2, 60}},    {{1, 4, 6, 5}, {1, 6, 4, 5}},
      {{1, 2, 3, 8}, {1, 3, 4, 4}},  {{1, 1, 1, 17}, {17}},      {{60}, {1, 3, 4, 5}},
      {{1, 120}, {1, 2, 4, 15}},     {{2, 3, 4, 1}, {2, 3, 4}},  {{2, 3, 7}, {2, 1, 3, 7}},
      {{1, 2, 2, 3}, {12, 1}},       {{1, 5, 5, 3}, {1, 25, 3}}, {{1}, {1, 1, 1, 1}},
      {{1, 3, 3, 10}, {1, 3, 6, 5}}, {{2, 2, 2, 2, 3}, {4, 12}}, {{2, 60}, {2, 1, 3, 2, 1, 2, 1, 5}},
  };
  for (const auto& [from, to] : pairs) {
    const std::string name = fmt::format("{}_to_{}", from, to);
    cases.push_back(NewCase({"reshape", name}, {}, [from = from, to = to](CaseGraph& graph) {
      // A copy follows: an output that is an alias of the input would test nothing.
      return graph.Node(Unary{UnaryKind::kCopy}, {graph.Node(Reshape{to}, {graph.Input(from, Wide)})});
    }));
  }
}

ConformanceCase ResizeCase(const Shape& input, const Resize& resize) {
  const bool bilinear = resize.kind == ResizeKind::kBilinear;
  const std::string name =
      fmt::format("{}_to_{}x{}{}{}", input, resize.height, resize.width, resize.align_corners ? "_corners" : "",
                  resize.half_pixel_centers ? "_half" : "");
  // The source coordinate is rounded before its fraction is taken, relative to the image's size: the size is added.
  const Exactness exactness = bilinear ? Exactness{4 + std::max(input[1], input[2]), 4.0} : Exactness{};
  return OneNode({bilinear ? "resize_bilinear" : "resize_nearest", name, "resize"}, exactness, resize, {In(input)});
}

void AddResize(std::vector<ConformanceCase>& cases) {
  struct Size {
    int32_t h, w;
  };
  const std::pair<Shape, Size> sizes[] = {
      {{1, 3, 5, 3}, {6, 10}}, {{2, 4, 4, 5}, {9, 7}}, {{1, 8, 6, 1}, {4, 3}}, {{1, 7, 9, 17}, {3, 4}},
      {{1, 1, 1, 7}, {4, 5}},  {{1, 5, 5, 4}, {5, 5}}, {{2, 5, 3, 8}, {1, 1}}, {{1, 1, 6, 5}, {3, 11}},
  };
  for (ResizeKind kind : {ResizeKind::kBilinear, ResizeKind::kNearest}) {
    for (const auto& [input, size] : sizes) {
      cases.push_back(ResizeCase(input, {kind, size.h, size.w, false, false}));
      cases.push_back(ResizeCase(input, {kind, size.h, size.w, true, false}));
      cases.push_back(ResizeCase(input, {kind, size.h, size.w, false, true}));
    }
  }
}

}  // namespace

void AddMovementCases(std::vector<ConformanceCase>& cases) {
  AddConcat(cases);
  AddReshape(cases);
  AddResize(cases);
}

}  // namespace hearth::conformance
