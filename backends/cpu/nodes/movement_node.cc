// Nodes that move elements without arithmetic, on worker threads: strided views, mirrored padding, blocks, nearest
// pixels. The reference looks up each element on its own, as a double.
#include <algorithm>
#include <array>
#include <cstring>

#include "backends/cpu/host/host_node.h"
#include "backends/cpu/host/host_output.h"
#include "backends/cpu/host/movement.h"
#include "backends/cpu/host/quantized.h"
#include "core/graph/element.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

constexpr int64_t kMostInRow = 8192;  // elements whose sources are listed
constexpr int64_t kShortRun = 4;      // shorter runs are moved element by element

// A prepared part: rows that differ only in their start.
struct MovedRows {
  struct Run {
    int64_t target = 0, source = 0, length = 0;  // in elements; the source may be MovedPart::kZero
  };
  int64_t source = 0, target = 0, count = 1, length = 1;
  std::vector<MovedPart::Digit> outer;  // digits of the row's index
  std::vector<Run> runs;                // of one row; or, if runs would be short:
  std::vector<int64_t> places;          // the source of each of its elements; or, for a long row without either:
  int64_t stride = 0;                   // between the sources of its elements; of a matrix, between its columns
  int64_t columns = 0;                  // of a matrix that is transposed: length / columns neighbours of each column

  uint64_t listed_bytes() const {
    uint64_t bytes = runs.size() * sizeof(Run) + places.size() * sizeof(int64_t);
    for (const MovedPart::Digit& digit : outer) bytes += digit.steps.size() * sizeof(int64_t);
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

// Takes the last two digits, if they are those of a matrix whose columns lie together, as of pictures with channels
// first that get them last. A row has as many neighbours of all columns as fit.
bool TakeMatrix(std::vector<MovedPart::Digit>& digits, MovedRows& rows) {
  if (digits.size() < 2) return false;
  const MovedPart::Digit &column = digits.back(), &neighbour = digits[digits.size() - 2];
  if (!column.is_regular() || !neighbour.is_regular() || column.stride <= 1 || neighbour.stride != 1) return false;
  int64_t count = std::min(neighbour.radix, kMostInRow / column.radix);
  while (count >= kShortRun && neighbour.radix % count != 0) --count;
  if (count < kShortRun || column.radix < 2) return false;
  rows.columns = column.radix;
  rows.stride = column.stride;
  rows.length = count * column.radix;
  digits.pop_back();
  digits.back() = {digits.back().radix / count, count, {}};
  return true;
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
  if (!TakeMatrix(part.digits, rows)) TakeRow(part.digits, rows);
  for (const MovedPart::Digit& digit : part.digits) rows.count *= digit.radix;
  rows.outer = std::move(part.digits);
  return rows;
}

// An element that stands for MovedPart::kZero: its first bytes, as many as the type has.
using FillBytes = std::array<std::byte, sizeof(uint64_t)>;

// By tiles whose elements stay in the first cache.
template <typename Element>
void Transpose(const MovedRows& rows, const Element* source, Element* target) {
  constexpr int64_t kTile = 64, kColumns = 16;
  const int64_t columns = rows.columns, neighbours = rows.length / columns;
  for (int64_t n = 0; n < neighbours; n += kTile) {
    for (int64_t c = 0; c < columns; c += kColumns) {
      const int64_t end = std::min(n + kTile, neighbours), last = std::min(c + kColumns, columns);
      for (int64_t column = c; column < last; ++column) {
        for (int64_t k = n; k < end; ++k) target[k * columns + column] = source[column * rows.stride + k];
      }
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
  if (rows.columns > 0) return Transpose(rows, source, target);
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

template <typename Element>
void MoveRows(const MovedRows& rows, const std::byte* in, std::byte* out, const FillBytes& fill, int64_t begin,
              int64_t end) {
  Element zero;
  std::memcpy(&zero, fill.data(), sizeof zero);
  const auto* source = reinterpret_cast<const Element*>(in) + rows.source;
  auto* target = reinterpret_cast<Element*>(out) + rows.target + begin * rows.length;
  for (int64_t row = begin; row < end; ++row, target += rows.length) {
    int64_t place = 0, rest = row;
    for (size_t d = rows.outer.size(); d-- > 0; rest /= rows.outer[d].radix) {
      place = Plus(place, StepOf(rows.outer[d], rest % rows.outer[d].radix));
    }
    if (place == MovedPart::kZero) {
      std::fill_n(target, rows.length, zero);
    } else {
      MoveRow(rows, source + place, target, zero);
    }
  }
}

class MovementNode final : public HostNode {
 public:
  struct Output {
    HostOutput held;
    bool changes_grid = false;
    std::vector<MovedRows> parts;
  };

  MovementNode(const HostNodeRequest& request, const std::byte* in, size_t element_bytes, const FillBytes& fill,
               std::vector<Output> outputs)
      : workers_(request.workers),
        in_(in),
        element_bytes_(static_cast<int64_t>(element_bytes)),
        fill_(fill),
        outputs_(std::move(outputs)) {}

  std::string_view kernel() const override { return "movement"; }

  std::optional<uint64_t> held_bytes() const override {
    uint64_t bytes = 0;
    for (const Output& output : outputs_) {
      for (const MovedRows& rows : output.parts) bytes += rows.listed_bytes();
    }
    return bytes;
  }

  Status Run(RunControl* /*control*/) override {
    for (const Output& output : outputs_) {
      for (const MovedRows& rows : output.parts) {
        std::byte* const bytes = output.held.bytes();
        const int64_t least_rows = kLeastBytesOfPart / (rows.length * element_bytes_) + 1;
        workers_.ForEachPart(rows.count, least_rows, [&](int64_t begin, int64_t end) {
          switch (element_bytes_) {
            case 1: return MoveRows<uint8_t>(rows, in_, bytes, fill_, begin, end);
            case 2: return MoveRows<uint16_t>(rows, in_, bytes, fill_, begin, end);
            case 4: return MoveRows<uint32_t>(rows, in_, bytes, fill_, begin, end);
            default: return MoveRows<uint64_t>(rows, in_, bytes, fill_, begin, end);
          }
        });
      }
      if (output.changes_grid) output.held.Finish();
    }
    return Status::Ok();
  }

 private:
  WorkerPool& workers_;
  const std::byte* in_;
  int64_t element_bytes_;
  FillBytes fill_;
  std::vector<Output> outputs_;
};

// The element for places without a source: the padding, or zero. nullopt if it would be rounded to a grid.
std::optional<FillBytes> FillOf(const HostNodeRequest& request, const TensorDesc& stored, DType held) {
  const auto* pad = std::get_if<Pad>(&request.node.op);
  const double value = pad == nullptr ? 0.0 : pad->value;
  if (!request.in_integers && stored.quantization && value != 0.0) return std::nullopt;
  const TensorDesc& out = request.graph.value(request.node.outputs[0]).desc;
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
  std::vector<MovementNode::Output> outputs;
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const ValueId y = node.outputs[k];
    const TensorDesc &stored_out = graph.value(y).desc, out = request.HeldAs(y);
    if (in.dtype != out.dtype || in.quantization != out.quantization) return nullptr;
    std::optional<std::vector<MovedPart>> parts = MovedPartsOf(graph, node, k);
    if (!parts) return nullptr;
    MovementNode::Output output{HostOutput(request, Activation::kNone, k), false, {}};
    output.changes_grid =
        !request.in_integers && IsHeldAsFloats(stored_out) && stored.quantization != stored_out.quantization;
    if (stored_out.shape.element_count() > 0) {
      for (MovedPart& part : *parts) output.parts.push_back(MovedRowsOf(std::move(part)));
    }
    outputs.push_back(std::move(output));
  }
  const std::byte* bytes = request.StoredBytes(x).data();
  if (reinterpret_cast<uintptr_t>(bytes) % (static_cast<size_t>(bits) / 8) != 0) return nullptr;
  return std::make_unique<MovementNode>(request, bytes, static_cast<size_t>(bits) / 8, *fill, std::move(outputs));
}

}  // namespace hearth
