// The rows of a YOLO head, and what stands in them behind a box and its scores: points, an angle, coefficients of
// masks.
#ifndef HEARTH_RUNTIME_RESULTS_YOLO_ROWS_H_
#define HEARTH_RUNTIME_RESULTS_YOLO_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hearth/results.h"

namespace hearth {

struct YoloShape {
  size_t rows = 0, numbers = 0;
  bool is_transposed = false;    // [1,numbers,rows]
  size_t per_cell = 0;           // rows; 0 if they are not the cells of the picture's grids
  std::span<const int> strides;  // of these grids
};

// Of a picture of that size. The longer dimension has the rows, unless only the other one fits the picture.
std::optional<YoloShape> YoloShapeOf(const std::vector<int32_t>& shape, int height, int width);

// A head's numbers, and, once they are measured, what all of them say.
struct YoloRows {
  YoloShape shape;
  const std::vector<float>& values;
  size_t first_score = 4, end = 0;  // of a row's scores; the tail is behind them
  size_t point_numbers = 3;         // x, y and, of three, the probability that a point is seen
  float middle_position = 0;
  bool are_shares = false, has_sizes_below_0 = false;

  size_t tail() const { return shape.numbers - end; }  // how many numbers
  float at(size_t row, size_t number) const {
    return values[shape.is_transposed ? number * shape.rows + row : row * shape.numbers + number];
  }
  // These numbers of all rows.
  std::vector<float> Columns(size_t first, size_t behind) const {
    std::vector<float> numbers;
    for (size_t row = 0; row < shape.rows; ++row) {
      for (size_t n = first; n < behind; ++n) numbers.push_back(at(row, n));
    }
    return numbers;
  }
};

// What positions are divided by, to be fractions of the picture.
struct YoloUnit {
  float x = 1, y = 1;
};

// Of poses with three numbers a point. With as many labels as classes these tell how many numbers are scores; without,
// the fewest are (YOLO v8's poses have only people).
constexpr size_t kPointNumbers = 3;
size_t PoseClassCount(size_t numbers, size_t label_count);

// Whether all numbers behind the scores are points near their boxes. Scores of classes in their place lie far away.
bool HavePoints(const YoloRows& rows);
bool IsAngle(float value);  // in radians
// Whether the last number of a row is an angle: a share is never below 0 or above 1, and those of all other
// scores are none.
bool HaveAngles(const YoloRows& rows);

// The row's points of a box.
void AddPoints(const YoloRows& rows, size_t row, YoloUnit unit, Box& box);
// Turns a box by its row's angle, around its centre and in pixels of the input: it gets four points, and left, top,
// right and bottom hold them all.
void Turn(const YoloRows& rows, size_t row, int input_height, int input_width, Box& box);

// For each pixel of the prototypes [1,h,w,M], the box that it belongs to: 1 + its place, 0 if there is none. A box's
// mask is the sum of the prototypes times its row's coefficients, cut off at the box (YOLACT, Bolya et al., 2019); it
// has the pixels above 0, but for those of a better box. `rows_of`: by box.
PixelMap MasksOf(const YoloRows& rows, std::span<const size_t> rows_of, const Interpretation& result);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_RESULTS_YOLO_ROWS_H_
