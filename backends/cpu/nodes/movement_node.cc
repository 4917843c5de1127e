// Nodes that move elements without arithmetic, on worker threads: strided views, mirrored padding, blocks, nearest
// pixels. The reference looks up each element on its own, as a double.
#include <algorithm>
#include <array>
#include <cstring>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_operand.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/movement.h"
#include "backends/cpu/host/quantized.h"
#include "core/base/error.h"
#include "core/graph/element.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

constexpr int64_t kMostInRow = 8192;  // elements whose sources are listed
constexpr int64_t kShortRun = 4;      // shorter runs are moved element by element

// Rows that are columns of the source and lie apart in the target.
struct MovedMatrix {
  int64_t columns = 0, neighbours = 0;  // elements of a row of the target; such rows, neighbours in the source
  int64_t source_stride = 0;            // between columns
  int64_t target_stride = 0;            // between neighbours
  int64_t at_once = 0;                  // neighbours that are moved as one row
};

// A prepared part: rows that differ only in their start.
struct MovedRows {
  struct Run {
    int64_t target = 0, source = 0, length = 0;  // in elements; the source may be MovedPart::kZero
  };
  struct OuterDigit {
    MovedPart::Digit digit;
    int64_t target_stride = 0;
  };
  int64_t source = 0, target = 0, count = 1, length = 1;
  std::vector<OuterDigit> outer;  // digits of the row's index
  std::vector<Run> runs;          // of one row; or, if runs would be short:
  std::vector<int64_t> places;    // the source of each of its elements; or, for a long row without either:
  int64_t stride = 0;             // between the sources of its elements; or, if it has columns:
  MovedMatrix matrix;

  uint64_t listed_bytes() const {
    uint64_t bytes = runs.size() * sizeof(Run) + places.size() * sizeof(int64_t);
    for (const OuterDigit& each : outer) bytes += each.digit.steps.size() * sizeof(int64_t);
    return bytes;
  }
};

int64_t StepOf(const MovedPart::Digit& digit, int64_t value) {
  return digit.is_regular() ? value * digit.stride : digit.steps[static_cast<size_t>(value)];
}

int64_t Plus(int64_t a, int64_t b) {
  return a == MovedPart::kZero || b == MovedPart::kZero ? MovedPart::kZero : a + b;
}

// The sources of the elements of the last digits. One listed digit may be long: its list is taken, not copied.
std::vector<int64_t> PlacesOf(std::span<MovedPart::Digit> digits) {
  if (digits.size() == 1 && !digits[0].is_regular()) return std::move(digits[0].steps);
  std::vector<int64_t> places = {0};
  for (const MovedPart::Digit& digit : digits) {
    std::vector<int64_t> longer;
    longer.reserve(places.size() * static_cast<size_t>(digit.radix));
    for (int64_t place : places) {
      for (int64_t value = 0; value < digit.radix; ++value) longer.push_back(Plus(place, StepOf(digit, value)));
    }
    places = std::move(longer);
  }
  return places;
}

// The runs of a row; none if they would be short.
std::vector<MovedRows::Run> RunsOf(const std::vector<int64_t>& places) {
  const size_t most_runs = places.size() / kShortRun;
  std::vector<MovedRows::Run> runs;
  for (size_t k = 0; k < places.size(); ++k) {
    if (!runs.empty()) {
      MovedRows::Run& last = runs.back();
      const int64_t next = last.source == MovedPart::kZero ? MovedPart::kZero : last.source + last.length;
      if (places[k] == next) {
        ++last.length;
        continue;
      }
    }
    if (runs.size() == most_runs) return {};
    runs.push_back({static_cast<int64_t>(k), places[k], 1});
  }
  return runs;
}

// The digit whose elements are neighbours in the source while those of the last one are not, as of pictures whose
// channels get the first or the last place; -1 if there is none.
int NeighboursOf(const std::vector<MovedPart::Digit>& digits) {
  if (digits.empty() || !digits.back().is_regular() || digits.back().stride <= 1 || digits.back().radix < 2) return -1;
  for (int d = static_cast<int>(digits.size()) - 2; d >= 0; --d) {
    const MovedPart::Digit& digit = digits[static_cast<size_t>(d)];
    const bool fills_lines = d + 2 == std::ssize(digits) || digits.back().radix >= 2 * kShortRun;
    if (digit.is_regular() && digit.stride == 1 && digit.radix >= kShortRun && fills_lines) return d;
  }
  return -1;
}

// Takes the digits of a matrix. A row has as many neighbours as fill lines of the first cache.
MovedMatrix TakeMatrix(std::vector<MovedRows::OuterDigit>& digits, int neighbours) {
  constexpr int64_t kLine = 64;
  const auto columns = digits.back(), rows = digits[static_cast<size_t>(neighbours)];
  const int64_t most = std::max<int64_t>(1, kMostInRow / columns.digit.radix / kLine) * kLine;
  const MovedMatrix matrix{columns.digit.radix, rows.digit.radix, columns.digit.stride, rows.target_stride,
                           std::min(rows.digit.radix, most)};
  digits.pop_back();
  digits.erase(digits.begin() + neighbours);
  const int64_t pieces = (matrix.neighbours + matrix.at_once - 1) / matrix.at_once;
  digits.push_back({{pieces, matrix.at_once, {}}, matrix.at_once * matrix.target_stride});
  return matrix;
}

// Takes as many of the last digits as make a row that is not too long.
void TakeRow(std::vector<MovedPart::Digit>& digits, MovedRows& rows) {
  if (digits.empty()) digits.push_back({});
  size_t first = digits.size() - 1;  // the first digit of a row
  rows.length = digits[first].radix;
  while (first > 0 && rows.length * digits[first - 1].radix <= kMostInRow) rows.length *= digits[--first].radix;
  const std::span<MovedPart::Digit> inner = std::span(digits).subspan(first);
  const bool is_regular = inner.size() == 1 && inner[0].is_regular();
  if (is_regular && inner[0].stride == 1) {
    rows.runs = {{0, 0, rows.length}};
  } else if (is_regular && rows.length > kMostInRow) {
    rows.stride = inner[0].stride;
  } else {
    rows.places = PlacesOf(inner);
    rows.runs = RunsOf(rows.places);
    if (!rows.runs.empty()) rows.places = std::vector<int64_t>();  // frees the list
  }
  digits.resize(first);
}

MovedRows MovedRowsOf(MovedPart part) {
  MovedRows rows{part.source, part.target};
  const int neighbours = NeighboursOf(part.digits);
  if (neighbours < 0) TakeRow(part.digits, rows);
  int64_t target_stride = rows.length;
  for (size_t d = part.digits.size(); d-- > 0; target_stride *= part.digits[d].radix)
    rows.outer.push_back({std::move(part.digits[d]), target_stride});
  std::ranges::reverse(rows.outer);
  if (neighbours >= 0) {
    rows.matrix = TakeMatrix(rows.outer, neighbours);
    rows.length = rows.matrix.columns * rows.matrix.at_once;
  }
  for (const MovedRows::OuterDigit& each : rows.outer) rows.count *= each.digit.radix;
  return rows;
}

// An element that stands for MovedPart::kZero: its first bytes, as many as the type has.
using FillBytes = std::array<std::byte, sizeof(uint64_t)>;

// Transposes a square of as many elements as a vector of 16 bytes has: stages that each put the elements of two halves
// in turn.
template <typename Element, size_t... k>
void TransposeSquare(const Element* source, int64_t source_stride, Element* target, int64_t target_stride,
                     std::index_sequence<k...>) {
  constexpr size_t kSide = sizeof...(k);
  typedef Element Vector __attribute__((vector_size(16)));
  Vector rows[kSide];
  ((void)std::memcpy(&rows[k], source + static_cast<int64_t>(k) * source_stride, sizeof(Vector)), ...);
  for (size_t stage = 1; stage < kSide; stage *= 2) {
    Vector mixed[kSide];
    for (size_t row = 0; row < kSide / 2; ++row) {
      const Vector a = rows[row], b = rows[row + kSide / 2];
      mixed[2 * row] = __builtin_shufflevector(a, b, (k / 2 + k % 2 * kSide)...);
      mixed[2 * row + 1] = __builtin_shufflevector(a, b, (kSide / 2 + k / 2 + k % 2 * kSide)...);
    }
    std::ranges::copy(mixed, rows);
  }
  ((void)std::memcpy(target + static_cast<int64_t>(k) * target_stride, &rows[k], sizeof(Vector)), ...);
}

// By tiles whose elements stay in the first cache.
template <typename Element>
void Transpose(const MovedMatrix& matrix, const Element* source, Element* target, int64_t neighbours) {
  constexpr int64_t kSide = 16 / sizeof(Element), kTile = 64;
  const int64_t from = matrix.source_stride, to = matrix.target_stride;
  // Columns a multiple of 4 KiB apart share one set of the first cache: each is read to the end of its tile at once.
  constexpr int64_t kApart = 4096 / sizeof(Element);
  const bool finishes_columns = from % kApart == 0 && to < kApart;
  const auto move = [&](int64_t n, int64_t last_n, int64_t c, int64_t last_c) {
    for (int64_t column = c; column < last_c; ++column) {
      for (int64_t k = n; k < last_n; ++k) target[k * to + column] = source[column * from + k];
    }
  };
  for (int64_t c = 0; c < matrix.columns; c += kTile) {
    const int64_t last_c = std::min(c + kTile, matrix.columns), whole_c = c + (last_c - c) / kSide * kSide;
    for (int64_t n = 0; n < neighbours; n += kTile) {
      const int64_t last_n = std::min(n + kTile, neighbours), whole_n = n + (last_n - n) / kSide * kSide;
      const auto move_square = [&](int64_t k, int64_t column) {
        TransposeSquare(source + column * from + k, from, target + k * to + column, to,
                        std::make_index_sequence<kSide>());
      };
      if (finishes_columns) {
        for (int64_t column = c; column < whole_c; column += kSide) {
          for (int64_t k = n; k < whole_n; k += kSide) move_square(k, column);
        }
      } else {
        for (int64_t k = n; k < whole_n; k += kSide) {
          for (int64_t column = c; column < whole_c; column += kSide) move_square(k, column);
        }
      }
      move(n, whole_n, whole_c, last_c);
      move(whole_n, last_n, c, last_c);
    }
  }
}

template <typename Element>
void MoveStrided(const MovedRows& rows, const Element* source, Element* target) {
  if (rows.stride == 0) {
    std::fill_n(target, rows.length, *source);
  } else {
    for (int64_t k = 0; k < rows.length; ++k) target[k] = source[k * rows.stride];
  }
}

template <typename Element>
void MoveRow(const MovedRows& rows, const Element* source, Element* target, Element zero) {
  if (rows.runs.empty() && rows.places.empty()) return MoveStrided(rows, source, target);
  for (const MovedRows::Run& run : rows.runs) {
    if (run.source == MovedPart::kZero) {
      std::fill_n(target + run.target, run.length, zero);
    } else {
      std::memcpy(target + run.target, source + run.source, static_cast<size_t>(run.length) * sizeof(Element));
    }
  }
  for (size_t k = 0; k < rows.places.size(); ++k) {
    target[k] = rows.places[k] == MovedPart::kZero ? zero : source[rows.places[k]];
  }
}

// `source`: null for zeros.
template <typename Element>
void MoveMatrix(const MovedMatrix& matrix, const Element* source, Element* target, int64_t neighbours, Element zero) {
  if (source != nullptr) return Transpose(matrix, source, target, neighbours);
  for (int64_t k = 0; k < neighbours; ++k) std::fill_n(target + k * matrix.target_stride, matrix.columns, zero);
}

template <typename Element>
void MoveRows(const MovedRows& rows, const std::byte* in, std::byte* out, const FillBytes& fill, int64_t begin,
              int64_t end) {
  Element zero;
  std::memcpy(&zero, fill.data(), sizeof zero);
  const auto* source = reinterpret_cast<const Element*>(in) + rows.source;
  auto* target = reinterpret_cast<Element*>(out) + rows.target;
  for (int64_t row = begin; row < end; ++row) {
    int64_t place = 0, to = 0, piece = 0, rest = row;
    for (size_t d = rows.outer.size(); d-- > 0; rest /= rows.outer[d].digit.radix) {
      const MovedRows::OuterDigit& outer = rows.outer[d];
      const int64_t value = rest % outer.digit.radix;
      if (d + 1 == rows.outer.size()) piece = value;
      place = Plus(place, StepOf(outer.digit, value));
      to += value * outer.target_stride;
    }
    if (rows.matrix.columns > 0) {
      const int64_t neighbours = std::min(rows.matrix.at_once, rows.matrix.neighbours - piece * rows.matrix.at_once);
      MoveMatrix(rows.matrix, place == MovedPart::kZero ? nullptr : source + place, target + to, neighbours, zero);
    } else if (place == MovedPart::kZero) {
      std::fill_n(target + to, rows.length, zero);
    } else {
      MoveRow(rows, source + place, target + to, zero);
    }
  }
}

struct MovedOutput {
  HostOutput held;
  bool changes_grid = false;
  std::vector<MovedRows> parts;
};

void Move(const MovedRows& rows, const std::byte* in, int64_t element_bytes, const FillBytes& fill, std::byte* out,
          WorkerPool& workers) {
  const int64_t least_rows = kLeastBytesOfPart / (rows.length * element_bytes) + 1;
  workers.ForEachPart(rows.count, least_rows, [&](int64_t begin, int64_t end) {
    switch (element_bytes) {
      case 1: return MoveRows<uint8_t>(rows, in, out, fill, begin, end);
      case 2: return MoveRows<uint16_t>(rows, in, out, fill, begin, end);
      case 4: return MoveRows<uint32_t>(rows, in, out, fill, begin, end);
      default: return MoveRows<uint64_t>(rows, in, out, fill, begin, end);
    }
  });
}

// The element for places without a source: the padding, or zero. nullopt if it would be rounded to a grid.
std::optional<FillBytes> FillOf(const HostNodeRequest& request, const TensorDesc& stored, DType held) {
  const auto* pad = std::get_if<Pad>(&request.node.op);
  const double value = pad == nullptr ? 0.0 : pad->value;
  if (!request.in_integers && stored.quantization && value != 0.0) return std::nullopt;
  const TensorDesc& out = request.out();
  FillBytes fill{};
  StoreElement(held, fill, 0, request.in_integers ? StoredNumber(value, GridOf(out)) : value);
  return fill;
}

}  // namespace

Result<std::unique_ptr<HostNode>> MakeMovementNode(const HostNodeRequest& request) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  if (node.inputs.empty() || node.inputs[0] == kNoValue) return nullptr;
  const ValueId x = node.inputs[0];
  const TensorDesc& stored = graph.value(x).desc;
  const TensorDesc in = request.HeldAs(x);
  const int bits = BitsOf(in.dtype);
  if ((bits != 8 && bits != 16 && bits != 32 && bits != 64) || stored.shape.element_count() == 0) return nullptr;
  const std::optional<FillBytes> fill = FillOf(request, stored, in.dtype);
  if (!fill) return nullptr;
  std::vector<MovedOutput> outputs;
  uint64_t listed_bytes = 0;
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const ValueId y = node.outputs[k];
    const TensorDesc &stored_out = graph.value(y).desc, out = request.HeldAs(y);
    if (in.dtype != out.dtype || in.quantization != out.quantization) return nullptr;
    std::optional<std::vector<MovedPart>> parts = MovedPartsOf(graph, node, k);
    if (!parts) return nullptr;
    MovedOutput output{HostOutput(request, Activation::kNone, k), false, {}};
    output.changes_grid =
        !request.in_integers && IsHeldAsFloats(stored_out) && stored.quantization != stored_out.quantization;
    if (stored_out.shape.element_count() > 0) {
      for (MovedPart& part : *parts) {
        output.parts.push_back(MovedRowsOf(std::move(part)));
        listed_bytes += output.parts.back().listed_bytes();
      }
    }
    outputs.push_back(std::move(output));
  }
  const int64_t element_bytes = bits / 8;
  const std::byte* bytes = request.StoredBytes(x).data();
  std::shared_ptr<const void> copied;  // what holds the input, if it is no other node's and not the file's
  const bool is_aligned = reinterpret_cast<uintptr_t>(bytes) % static_cast<size_t>(element_bytes) == 0;
  if (!is_aligned) {  // a constant at an odd address of the file
    HEARTH_ASSIGN(const HostOperand operand, HostOperandOf(request, 0));
    if (operand.shared == nullptr || operand.desc.dtype != in.dtype) return nullptr;
    bytes = operand.bytes;
    copied = operand.shared;
  }
  return NodeOf(
      "movement",
      [bytes, copied, element_bytes, fill = *fill, outputs = std::move(outputs), &workers = request.workers] {
        for (const MovedOutput& output : outputs) {
          for (const MovedRows& rows : output.parts)
            Move(rows, bytes, element_bytes, fill, output.held.bytes(), workers);
          if (output.changes_grid) output.held.Finish();
        }
      },
      listed_bytes);
}

}  // namespace hearth
