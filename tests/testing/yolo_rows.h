// Rows of a YOLO head, one for each cell of a small picture's grids.
#ifndef HEARTH_TESTS_TESTING_YOLO_ROWS_H_
#define HEARTH_TESTS_TESTING_YOLO_ROWS_H_

#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/seen_heads.h"

namespace hearth::testing {

inline constexpr int kTailHeight = 64, kTailWidth = 96;
inline constexpr size_t kTailRows = 12 * 8 + 6 * 4 + 3 * 2, kPersonPoints = 17;

struct TailCase {
  std::string name;
  bool is_transposed = true, are_fractions = false;
};
inline void PrintTo(const TailCase& tail, std::ostream* out) {
  *out << tail.name;
}

// A row for each cell, with a box near it that nobody is sure of; numbers behind the scores are 0.
class TailRows {
 public:
  TailRows(TailCase tail, size_t classes, size_t tail_numbers)
      : tail_(std::move(tail)),
        numbers_(4 + classes + tail_numbers),
        first_(4 + classes),
        values_(kTailRows * numbers_) {
    std::mt19937 random(11);
    std::uniform_real_distribution<float> share(0, 1);
    size_t row = 0;
    for (const int stride : {8, 16, 32}) {
      for (int y = 0; y < kTailHeight / stride; ++y) {
        for (int x = 0; x < kTailWidth / stride; ++x, ++row) {
          const auto pixels = static_cast<float>(stride);
          Put(row, {(static_cast<float>(x) + share(random)) * pixels, (static_cast<float>(y) + share(random)) * pixels,
                    pixels * (1 + share(random)), pixels * (1 + share(random))});
          for (size_t n = 4; n < first_; ++n) at(row, n) = 0.1f * share(random);
        }
      }
    }
  }

  float& at(size_t row, size_t n) { return values_[tail_.is_transposed ? n * kTailRows + row : row * numbers_ + n]; }
  // Centre, width and height in pixels.
  void Put(size_t row, const std::vector<float>& box) {
    for (size_t n = 0; n < 4; ++n) at(row, n) = box[n] / Unit(n);
  }
  void Put(size_t row, const std::vector<float>& box, float score) {
    Put(row, box);
    at(row, 4) = score;
  }
  // All points of a row, `step` pixels from each other, from its centre on.
  void PutPoints(size_t row, float step) {
    for (size_t k = 0; first_ + 3 * k < numbers_; ++k) {
      at(row, first_ + 3 * k) = at(row, 0) + step * static_cast<float>(k) / Unit(0);
      at(row, first_ + 3 * k + 1) = at(row, 1);
      at(row, first_ + 3 * k + 2) = 0.9f;
    }
  }
  void PutTail(size_t row, const std::vector<float>& values) {
    for (size_t k = 0; k < values.size(); ++k) at(row, first_ + k) = values[k];
  }

  Head head() const {
    const auto rows = static_cast<int32_t>(kTailRows), count = static_cast<int32_t>(numbers_);
    return {tail_.is_transposed ? std::vector{1, count, rows} : std::vector{1, rows, count}, values_};
  }

 private:
  float Unit(size_t n) const {
    return !tail_.are_fractions ? 1.0f : static_cast<float>(n % 2 == 0 ? kTailWidth : kTailHeight);
  }

  TailCase tail_;
  size_t numbers_, first_;
  std::vector<float> values_;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_YOLO_ROWS_H_
