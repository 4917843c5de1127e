// Where the rows of a product of 8-bit matrices lie in the input.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_MATRIX_ROWS_H_
#define HEARTH_BACKENDS_CPU_INTEGER_MATRIX_ROWS_H_

#include <cstdint>

#include "backends/cpu/host/host_node.h"

namespace hearth {

inline constexpr int32_t kMostPieces = 64;

// The layout of a product's rows in the input, one row for each output pixel.
enum class RowsPlace : uint8_t {
  kInput,    // one after the other
  kLines,    // windows whose pieces are read in place; gathered at the ends of the output's lines
  kGathered  // windows
};
struct MatrixRows {
  RowsPlace place = RowsPlace::kInput;
  int64_t count = 0, depth = 0;
  // kLines: the columns whose windows are within the image's width, and the pieces of a window: lines, or pixels.
  int64_t inside_begin = 0, inside_end = 0;
  int32_t pieces = 1, piece_depth = 0;  // otherwise the whole row
  Window2D window;
  Padding2D padding;
  Shape in, out;
  int32_t kernel_h = 1, kernel_w = 1;
};

// Of windows that move over the node's input.
MatrixRows WindowRows(const HostNodeRequest& request, const Window2D& window, int32_t kernel_h, int32_t kernel_w,
                      int64_t depth);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_MATRIX_ROWS_H_
