#include "backends/cpu/integer/matrix_rows.h"

#include <algorithm>

#include "core/base/numbers.h"

namespace hearth {
namespace {

// Whether the windows of most pixels of a line can be read in place.
bool FindLines(MatrixRows& rows) {
  constexpr int64_t kLeastColumns = 24;  // fewer don't fill tiles
  const Window2D& window = rows.window;
  const int64_t reach = int64_t{rows.kernel_w - 1} * window.dilation_w;
  const int64_t channels = rows.depth / (int64_t{rows.kernel_h} * rows.kernel_w);
  const bool is_line_dense = window.dilation_w == 1 && channels == rows.in[3];
  const int64_t pieces = is_line_dense ? rows.kernel_h : int64_t{rows.kernel_h} * rows.kernel_w;
  const int64_t depth = rows.depth / pieces, added = RoundUp(depth, int64_t{kDepthStep}) - depth;
  if (pieces > kMostPieces || added * 3 > depth) return false;
  rows.inside_begin = Tiles(rows.padding.left, window.stride_w);
  const int64_t last = int64_t{rows.in[2]} - 1 - reach + rows.padding.left;  // the last column's first pixel at most
  rows.inside_end = last < 0 ? 0 : std::min<int64_t>(rows.out[2], last / window.stride_w + 1);
  if (rows.inside_end - rows.inside_begin < kLeastColumns) return false;
  rows.pieces = static_cast<int32_t>(pieces);
  rows.piece_depth = static_cast<int32_t>(depth);
  return true;
}

}  // namespace

MatrixRows WindowRows(const HostNodeRequest& request, const Window2D& window, int32_t kernel_h, int32_t kernel_w,
                      int64_t depth) {
  MatrixRows rows;
  rows.in = request.in(0).shape;
  rows.out = request.out().shape;
  rows.window = window;
  rows.padding = ResolvePadding(window, rows.in[1], rows.in[2], kernel_h, kernel_w);
  rows.kernel_h = kernel_h;
  rows.kernel_w = kernel_w;
  rows.count = int64_t{rows.out[0]} * rows.out[1] * rows.out[2];
  rows.depth = depth;
  rows.piece_depth = static_cast<int32_t>(depth);
  const bool is_pixel = kernel_h == 1 && kernel_w == 1 && window.stride_h == 1 && window.stride_w == 1;
  const bool is_input = is_pixel && depth == rows.in[3] && rows.in[1] == rows.out[1] && rows.in[2] == rows.out[2] &&
                        rows.padding.top == 0 && rows.padding.left == 0;
  if (!is_input) rows.place = FindLines(rows) ? RowsPlace::kLines : RowsPlace::kGathered;
  return rows;
}

}  // namespace hearth
