// Limits of memory and work while one model file is read, in any format: a small file must not ask for much of either.
#ifndef HEARTH_FRONTENDS_WRITER_BUDGET_H_
#define HEARTH_FRONTENDS_WRITER_BUDGET_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/graph/types.h"
#include "hearth/status.h"

namespace hearth {

// Limits what is copied out of a file to four times its size. The same list or text may be referred to from many places
// of a file, so that a small one could otherwise ask for any amount of memory.
class CopyBudget {
 public:
  explicit CopyBudget(size_t file_bytes) : left_bytes_(4 * file_bytes + (1 << 20)) {}
  // False if that is too much.
  [[nodiscard]] bool Charge(size_t bytes) {
    if (bytes > left_bytes_) return false;
    left_bytes_ -= bytes;
    return true;
  }
  // The same for the scales of a description, unless it has only one for all channels.
  [[nodiscard]] bool ChargeScales(const TensorDesc& desc);
  // Adds to the budget, for parts that are read again within a limit of their own.
  void Add(size_t bytes) { left_bytes_ += bytes; }
  // The error for an exceeded budget; `what` needed too much.
  static Status Exceeded(std::string_view what);

 private:
  size_t left_bytes_;
};

struct ReadingBudget {
  // `file_bytes`: see ReadOptions::file_bytes.
  explicit ReadingBudget(size_t file_bytes)
      : copies(file_bytes), made_bytes(64 * file_bytes + (size_t{16} << 20)), stored_bytes_left(file_bytes) {}

  // False if constants that the file does not contain (sparse, computed, stacked ones) would become too large.
  [[nodiscard]] bool ChargeMade(size_t bytes);
  // Whether a constant that may as well be calculated at each run leaves a quarter of the room to those that have to be
  // made.
  bool HasAmpleRoom(size_t bytes) const {
    return bytes <= made_bytes_left && made_bytes_left - bytes >= made_bytes / 4;
  }
  // As ChargeMade for a constant that the file contains. Devices may make floats of each, so what exceeds the file,
  // since constants share bytes, counts as such.
  [[nodiscard]] bool ChargeStored(const TensorDesc& desc);
  // The error for either; `what` would be too much.
  static Status TooMuchMade(std::string_view what);
  // kUnsupported if there is no room for such a constant: to be asked before many numbers are computed.
  Status CheckRoom(const TensorDesc& desc) const;
  Status CheckRoom(const Shape& shape, DType dtype) const { return CheckRoom({dtype, shape, std::nullopt}); }
  // The error for a state that would be too much; `what` becomes one.
  Status ChargeState(const TensorDesc& desc, std::string_view what);
  // An error if too much was done over and over: whoever goes through a whole list for each operator asks first.
  Status ChargeSteps(size_t steps);
  // An error if an operator that becomes many would exceed the limit of operators.
  Status ChargeOperators(int64_t count);
  // The same for a subgraph that replaces an operator that calls it; each call may copy names and lists of its own.
  Status ChargeCall(int64_t operators);
  static Status TooManyOperators();

  CopyBudget copies;
  size_t made_bytes;  // of constants that the file does not contain, as the next
  size_t made_bytes_left = made_bytes;
  size_t stored_bytes_left;
  // State is the one thing that a file can ask for without holding its bytes.
  static constexpr size_t kMaxStateBytes = size_t{64} << 20;
  size_t state_bytes_left = kMaxStateBytes;
  // Operators of subgraphs and loops that replace the operators that call them.
  static constexpr int64_t kMaxInlinedOperators = 100'000;
  int64_t inlined_operators_left = kMaxInlinedOperators;
  // Tensors of subgraphs at each call of them, and all variables or nodes wherever one operator goes through them. Real
  // models need less than a million; the file's size does not bound it, since it may list one call 100,000 times.
  static constexpr size_t kMaxSteps = size_t{1} << 25;
  size_t steps_left = kMaxSteps;
  // Nodes that are gone through only to name in a message what a value depends on.
  size_t searched_nodes_left = size_t{1} << 25;
  // Operators and nodes that are read or computed only to count a loop's iterations.
  int64_t counting_left = 1 << 20;
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_WRITER_BUDGET_H_
