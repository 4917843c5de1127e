// The binary form: magic, the fingerprint of the sources that make plans, then plan_fields.h. A plan has one form: what
// Deserialize accepts serializes to the same bytes. No checksum: the cache verifies its own first.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <tuple>

#include "core/base/byte_reader.h"
#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/emit/kernel_library.h"
#include "core/plan/member_writer.h"
#include "core/plan/plan.h"
#include "core/plan/plan_fields.h"
#include "core/plan/source_fingerprints.h"

namespace hearth {
namespace {

constexpr uint32_t kPlanMagic = 0x4e4c5048;  // "HPLN"

// ---- Reading ----

// The last value of each enumeration that a plan may hold: a reader refuses numbers beyond it.
constexpr std::tuple kLastValues(kLastDType, ArgDirection::kWrite, StorageType::kInt32, AccessPath::kBuffer64,
                                 ScalarType::kFloat, StatementForm::kRoundToGrid, ElementFunction::Table::kPRelu,
                                 Reach::kRepeated, BufferRole::kState, Executor::kCpu, HostPlace::Kind::kConstant,
                                 FileType::kUInt2, PackLayout::kWinograd);

// Reads with bounds: a count is at most the bytes that are left, so a damaged count can't allocate much more memory
// than the input has. After the first mistake everything reads as empty and ok() is false.
class PlanReader {
 public:
  [[maybe_unused]] static constexpr bool kReads = true;

  explicit PlanReader(std::span<const std::byte> bytes) : reader_(bytes) {}

  template <typename... T>
  void operator()(T&... fields) {
    (Item(fields), ...);
  }

  bool ok() const { return !reader_.failed(); }
  bool at_end() const { return reader_.rest().empty(); }

 private:
  template <typename T>
  void Item(T& item) {
    if constexpr (std::is_same_v<T, bool>) {
      item = Number<uint8_t>(1) != 0;
    } else if constexpr (std::is_enum_v<T>) {
      using Underlying = std::underlying_type_t<T>;
      item = static_cast<T>(Number<Underlying>(static_cast<Underlying>(std::get<T>(kLastValues))));
    } else if constexpr (std::is_same_v<T, float>) {
      item = std::bit_cast<float>(Number<uint32_t>());
    } else if constexpr (std::is_integral_v<T>) {
      item = static_cast<T>(Number<std::make_unsigned_t<T>>());
    } else {
      Fields(*this, item);
    }
  }

  template <typename T>
  T Number(T most = std::numeric_limits<T>::max()) {
    const T number = reader_.Number<T>();
    if (number > most) reader_.Fail();
    return ok() ? number : T{};
  }

  void Item(std::string& text) { text = TextFrom(reader_.Bytes(Number<uint64_t>())); }

  void Item(std::vector<std::byte>& bytes) {
    const auto taken = reader_.Bytes(Number<uint64_t>());
    bytes.assign(taken.begin(), taken.end());
  }

  template <typename T>
  void Item(std::vector<T>& items) {
    const uint64_t count = Number<uint64_t>();
    if (count > reader_.rest().size()) reader_.Fail();  // each item takes at least a byte
    for (uint64_t i = 0; ok() && i < count; ++i) Item(items.emplace_back());
  }

  template <size_t N>
  void Item(std::array<uint8_t, N>& bytes) {
    const auto taken = reader_.Bytes(N);
    if (ok()) std::memcpy(bytes.data(), taken.data(), N);
  }

  template <typename T, size_t N>
  void Item(std::array<T, N>& items) {
    for (T& item : items) Item(item);
  }

  template <typename T>
  void Item(std::optional<T>& item) {
    bool present = false;
    Item(present);
    if (present) Item(item.emplace());
  }

  void Item(std::shared_ptr<const BlockScales>& item) {
    bool present = false;
    Item(present);
    if (!present) return;
    BlockScales blocks;
    (*this)(blocks.size, blocks.zero, blocks.has_unsigned_nibbles);
    for (BlockScales::Numbers* numbers : {&blocks.scales, &blocks.zeros}) {
      std::vector<std::byte> bytes;
      (*this)(numbers->dtype, numbers->row_step, numbers->block_step, numbers->source, bytes);
      numbers->own = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
      numbers->bytes = *numbers->own;
    }
    item = std::make_shared<const BlockScales>(std::move(blocks));
  }

  void Item(Shape& shape) {
    std::array<int32_t, Shape::kMaxRank> dims{};
    const int rank = Number<uint8_t>(Shape::kMaxRank);
    for (int i = 0; i < rank; ++i) Item(dims[i]);
    shape = Shape::FromSpan(std::span(dims).first(rank));
  }

  ByteReader reader_;
};

// ---- Promises that every plan keeps ----

// Whether no dimension is negative and the product without zeros is at most 2^48: element counts can't overflow.
bool IsSaneShape(std::span<const int32_t> dims) {
  int64_t product = 1;
  for (int32_t dim : dims) {
    if (dim < 0) return false;
    if (dim == 0) continue;
    if (product > (int64_t{1} << 48) / dim) return false;
    product *= dim;
  }
  return true;
}

bool AreAlike(const TensorDesc& a, const TensorDesc& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

class PlanChecker {
 public:
  explicit PlanChecker(const Plan& plan) : plan_(plan) {}

  bool Run() const {
    return All(plan_.constants) && All(plan_.dispatches) && HasEachDispatchOnce() && All(plan_.segments) &&
           All(plan_.inputs) && All(plan_.outputs) && All(plan_.states) && plan_.source_op_count >= 0;
  }

 private:
  template <typename T>
  bool All(const std::vector<T>& items) const {
    return std::ranges::all_of(items, [&](const T& item) { return IsGood(item); });
  }

  bool IsGood(const BufferRange& range) const {
    if (range.buffer >= plan_.buffers.size()) return false;
    const uint64_t size = plan_.buffers[range.buffer].size_bytes;
    return range.offset_bytes <= size && range.size_bytes <= size - range.offset_bytes;
  }

  bool IsGood(const PlanConstant& constant) const {
    return IsSaneShape(constant.recipe.source.shape.dims()) && IsSaneShape(constant.recipe.dims) &&
           IsGood(constant.range) && constant.recipe.packed_size_bytes() <= constant.range.size_bytes;
  }

  // Segments have the dispatches in order, and those of the device do not follow each other.
  bool HasEachDispatchOnce() const {
    uint64_t next = 0;
    bool was_of_device = false;
    for (const Segment& segment : plan_.segments) {
      const bool is_of_device = segment.executor == Executor::kDevice;
      if (segment.first_dispatch != next || (is_of_device ? was_of_device : segment.dispatch_count != 0)) return false;
      next += segment.dispatch_count;
      was_of_device = is_of_device;
    }
    return next == plan_.dispatches.size();
  }

  bool IsGood(const Dispatch& dispatch) const {
    if (dispatch.kernel >= plan_.kernels.size()) return false;
    const KernelSource& kernel = plan_.kernels[dispatch.kernel];
    return dispatch.tensors.size() == kernel.tensors.size() && dispatch.scalars.size() == kernel.scalars.size() &&
           All(dispatch.tensors) && !Contains(dispatch.group_count, 0u);
  }

  bool IsGood(const HostTransfer& transfer) const {
    if (!IsSaneShape(transfer.desc.shape.dims())) return false;
    const Bhwc shape = ToBhwc(transfer.desc.shape);
    const uint64_t size_bytes = static_cast<uint64_t>(shape.pixels()) * shape.slices() * TexelBytes(transfer.storage);
    return IsGood(transfer.range) && size_bytes <= transfer.range.size_bytes;
  }

  // Whether a tensor of this description lies there.
  bool IsGood(const HostPlace& place, const TensorDesc& desc) const {
    const auto is_of = [&](const std::vector<PlanTensor>& tensors) {
      return place.index < tensors.size() && AreAlike(tensors[place.index].desc, desc);
    };
    switch (place.kind) {
      case HostPlace::Kind::kInput: return is_of(plan_.inputs);
      case HostPlace::Kind::kOutput: return is_of(plan_.outputs);
      case HostPlace::Kind::kValue:
        return place.index < plan_.host_bytes.size() && plan_.host_bytes[place.index] == desc.size_bytes();
      case HostPlace::Kind::kNone:
      case HostPlace::Kind::kConstant: return true;
    }
    return false;
  }

  bool IsGood(const SegmentOperand& operand) const {
    return IsSaneShape(operand.transfer.desc.shape.dims()) && IsGood(operand.place, operand.transfer.desc) &&
           (!operand.crosses || IsGood(operand.transfer));
  }

  bool IsGood(const Segment& segment) const { return All(segment.reads) && All(segment.writes); }

  bool IsGood(const PlanTensor& tensor) const {
    return IsSaneShape(tensor.desc.shape.dims()) && IsGood(tensor.host, tensor.desc) &&
           (!tensor.on_device || (IsGood(tensor.transfer) && AreAlike(tensor.desc, tensor.transfer.desc)));
  }

  bool IsGood(const PlanState& state) const {
    if (!IsSaneShape(state.desc.shape.dims())) return false;
    if (!IsGood(state.host, state.desc) || !IsGood(state.next_host, state.desc)) return false;
    if (state.on_device) return IsGood(state.transfer) && AreAlike(state.desc, state.transfer.desc);
    return !state.next_on_device || (IsGood(state.next) && AreAlike(state.desc, state.next.desc));
  }

  const Plan& plan_;
};

}  // namespace

std::vector<std::byte> SerializePlan(const Plan& plan) {
  MemberWriter writer;
  writer(kPlanMagic, std::string(kPlanSources), plan);
  return writer.TakeBytes();
}

Result<Plan> DeserializePlan(std::span<const std::byte> bytes) {
  PlanReader reader(bytes);
  uint32_t magic = 0;
  std::string sources;
  reader(magic, sources);
  if (!reader.ok() || magic != kPlanMagic) {
    return Error(StatusCode::kMalformedInput, "{} bytes are not a plan", bytes.size());
  }
  if (sources != kPlanSources) return Error(StatusCode::kMalformedInput, "a plan of another version of Hearth");
  Plan plan;
  reader(plan);
  if (!reader.ok() || !reader.at_end()) {
    return Error(StatusCode::kMalformedInput, "a plan of {} bytes is cut short or damaged", bytes.size());
  }
  for (KernelSource& kernel : plan.kernels) HEARTH_TRY(CompleteStoredKernel(kernel));
  if (!PlanChecker(plan).Run()) {
    return Error(StatusCode::kMalformedInput, "a plan of {} bytes contradicts itself", bytes.size());
  }
  return plan;
}

}  // namespace hearth
