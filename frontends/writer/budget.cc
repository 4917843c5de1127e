#include "frontends/writer/budget.h"

#include "core/base/error.h"

namespace hearth {
namespace {

constexpr size_t kBytesPerInlinedOperator = 512;  // names and lists, on average

}  // namespace

bool CopyBudget::ChargeScales(const TensorDesc& desc) {
  if (!desc.quantization || desc.quantization->scales.size() <= 1) return true;
  const Quantization& lists = *desc.quantization;
  return Charge(lists.scales.size() * sizeof(float) + lists.zero_points.size() * sizeof(int64_t));
}

Status CopyBudget::Exceeded(std::string_view what) {
  return Error(StatusCode::kMalformedInput,
               "{} would copy more than four times the file's size out of it: the same data is listed again and again",
               what);
}

bool ReadingBudget::ChargeMade(size_t bytes) {
  if (bytes > made_bytes_left) return false;
  made_bytes_left -= bytes;
  return true;
}

bool ReadingBudget::ChargeStored(const TensorDesc& desc) {
  const size_t bytes = desc.size_bytes();
  if (bytes > stored_bytes_left) return ChargeMade(4 * static_cast<size_t>(desc.shape.element_count()));
  stored_bytes_left -= bytes;
  return true;
}

Status ReadingBudget::TooMuchMade(std::string_view what) {
  return Error(
      StatusCode::kMalformedInput,
      "{} would take the constants that are made of the file beyond 16 MiB and 64 times its size, which no file may "
      "ask for: the same data is listed again and again, or few numbers are spread over many elements",
      what);
}

Status ReadingBudget::CheckRoom(const TensorDesc& desc) const {
  if (desc.size_bytes() <= made_bytes_left) return Status::Ok();
  return Error(StatusCode::kUnsupported, "it needs too many constants for the size of the file");
}

Status ReadingBudget::ChargeState(const TensorDesc& desc, std::string_view what) {
  const size_t size_bytes = desc.size_bytes();
  if (size_bytes > state_bytes_left) {
    return Error(StatusCode::kUnsupported, "{} is state of {} bytes; at most {} are possible in all", what, size_bytes,
                 kMaxStateBytes);
  }
  state_bytes_left -= size_bytes;
  return Status::Ok();
}

Status ReadingBudget::ChargeSteps(size_t steps) {
  if (steps > steps_left) {
    return Error(
        StatusCode::kUnsupported,
        "reading the model takes more than {} steps, since tensors or variables are gone through again at each "
        "call of a subgraph: call it less often, or convert with fewer variables",
        kMaxSteps);
  }
  steps_left -= steps;
  return Status::Ok();
}

Status ReadingBudget::ChargeOperators(int64_t count) {
  if (count > inlined_operators_left) {
    return Error(StatusCode::kUnsupported, "it would be unrolled into {} operators; at most {} are possible", count,
                 inlined_operators_left);
  }
  inlined_operators_left -= count;
  return Status::Ok();
}

Status ReadingBudget::ChargeCall(int64_t operators) {
  if (operators > inlined_operators_left) return TooManyOperators();
  inlined_operators_left -= operators;
  copies.Add(kBytesPerInlinedOperator * static_cast<size_t>(operators));
  return Status::Ok();
}

Status ReadingBudget::TooManyOperators() {
  return Error(StatusCode::kUnsupported,
               "its unrolled turns have more than {} operators: convert with "
               "fewer turns (shorter sequences), or bound a loop whose end depends on data (maximum_iterations)",
               kMaxInlinedOperators);
}

}  // namespace hearth
