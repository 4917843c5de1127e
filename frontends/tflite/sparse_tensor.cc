// Sparse constants made dense.
#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/error.h"
#include "frontends/tflite/tensor_reader.h"

namespace hearth {
namespace {

constexpr int kMaxLevels = 2 * Shape::kMaxRank;

// The storage of one traversed dimension.
struct Level {
  int dimension = 0;  // of the tensor, then of the blocks
  int32_t size = 0;   // if dense
  bool is_sparse = false;
  std::vector<int32_t> segments, indices;  // if sparse: indices[segments[p]..segments[p + 1]) belong to parent p
};

Status Contradiction(std::string_view what) {
  return Error(StatusCode::kMalformedInput, "its sparsity is contradictory: {}", what);
}

template <typename T>
std::vector<int32_t> Widened(const flatbuffers::Vector<T>* stored) {
  const std::vector<T> numbers = CopyOf(stored);
  return {numbers.begin(), numbers.end()};
}

// What `use` returns for the list's vector. A type that the format does not have is no list: flatbuffers' verifier lets
// it pass and checks nothing of the table.
template <typename Answer, typename Use>
Answer WithList(wire::SparseIndexVector type, const void* table, const Use& use) {
  if (table == nullptr) return {};
  switch (type) {
    case wire::SparseIndexVector_Int32Vector: return use(static_cast<const wire::Int32Vector*>(table)->values());
    case wire::SparseIndexVector_Uint16Vector: return use(static_cast<const wire::Uint16Vector*>(table)->values());
    case wire::SparseIndexVector_Uint8Vector: return use(static_cast<const wire::Uint8Vector*>(table)->values());
    default: return {};
  }
}

std::vector<int32_t> ListOf(wire::SparseIndexVector type, const void* table) {
  return WithList<std::vector<int32_t>>(type, table, [](const auto* values) { return Widened(values); });
}

size_t ListBytes(wire::SparseIndexVector type, const void* table) {
  return WithList<size_t>(type, table,
                          [](const auto* values) { return values == nullptr ? 0 : 4 * size_t{values->size()}; });
}

class DenseMaker {
 public:
  DenseMaker(const Shape& shape, std::span<const std::byte> values, size_t element_bytes)
      : shape_(shape), values_(values), element_bytes_(element_bytes), value_count_(values.size() / element_bytes) {}

  Status ReadLevels(const wire::SparsityParameters& sparsity) {
    const std::vector<int32_t> order = CopyOf(sparsity.traversal_order());
    const std::vector<int32_t> block_map = CopyOf(sparsity.block_map());
    const size_t count = shape_.rank() + block_map.size();
    if (count > kMaxLevels || order.size() != count || sparsity.dim_metadata() == nullptr ||
        sparsity.dim_metadata()->size() != count) {
      return Contradiction("its lists have other lengths than the shape and the blocks");
    }
    std::vector<bool> seen(count, false);
    for (size_t k = 0; k < count; ++k) {
      if (order[k] < 0 || static_cast<size_t>(order[k]) >= count || seen[order[k]]) {
        return Contradiction("the order of dimensions is not a permutation");
      }
      seen[order[k]] = true;
      HEARTH_TRY(AddLevel(order[k], *sparsity.dim_metadata()->Get(static_cast<uint32_t>(k))));
    }
    return CheckBlocks(block_map);
  }

  Result<std::vector<std::byte>> Make() {
    dense_.assign(static_cast<size_t>(shape_.element_count()) * element_bytes_, std::byte{0});
    HEARTH_TRY(Walk(0, 0));
    return std::move(dense_);
  }

 private:
  Status AddLevel(int dimension, const wire::DimensionMetadata& metadata) {
    Level level{.dimension = dimension, .is_sparse = metadata.format() == wire::DimensionType_SPARSE_CSR};
    if (level.is_sparse) {
      level.segments = ListOf(metadata.array_segments_type(), metadata.array_segments());
      level.indices = ListOf(metadata.array_indices_type(), metadata.array_indices());
      // Sorted, so that no index is visited twice.
      const bool in_order = !level.segments.empty() && level.segments.front() == 0 &&
                            std::is_sorted(level.segments.begin(), level.segments.end()) &&
                            static_cast<size_t>(level.segments.back()) == level.indices.size();
      if (!in_order) return Contradiction("the segments of a compressed dimension don't fit its indices");
    } else {
      level.size = metadata.dense_size();
      if (level.size < 1) return Contradiction("a dense dimension has no size");
    }
    levels_.push_back(std::move(level));
    return Status::Ok();
  }

  // Block k divides dimension block_map[k]. Its own dimension, after the tensor's, is dense.
  Status CheckBlocks(const std::vector<int32_t>& block_map) {
    block_of_.fill(-1);
    block_size_.fill(1);
    const int rank = shape_.rank();
    for (size_t k = 0; k < block_map.size(); ++k) {
      const int32_t divided = block_map[k];
      if (divided < 0 || divided >= rank || block_of_[divided] >= 0) return Contradiction("a block divides nothing");
      block_of_[divided] = rank + static_cast<int>(k);
    }
    for (const Level& level : levels_) {
      if (level.dimension < rank) continue;
      if (level.is_sparse) return Contradiction("the inside of a block is compressed");
      block_size_[block_map[level.dimension - rank]] = level.size;
    }
    for (const Level& level : levels_) {
      if (level.dimension >= rank || level.is_sparse) continue;
      if (int64_t{level.size} * block_size_[level.dimension] != shape_[level.dimension]) {
        return Contradiction("a dense dimension differs from the shape");
      }
    }
    return Status::Ok();
  }

  // `parent` is the position in the level above; below the last level it is the index of the value.
  Status Walk(size_t depth, int64_t parent) {
    if (depth == levels_.size()) return Place(parent);
    const Level& level = levels_[depth];
    if (!level.is_sparse) {
      for (int32_t i = 0; i < level.size; ++i) {
        at_[level.dimension] = i;
        HEARTH_TRY(Walk(depth + 1, parent * level.size + i));
      }
      return Status::Ok();
    }
    if (static_cast<size_t>(parent) + 1 >= level.segments.size()) return Contradiction("a segment is missing");
    for (int32_t i = level.segments[parent]; i < level.segments[parent + 1]; ++i) {
      at_[level.dimension] = level.indices[i];
      HEARTH_TRY(Walk(depth + 1, i));
    }
    return Status::Ok();
  }

  Status Place(int64_t value) {
    if (static_cast<uint64_t>(value) >= value_count_)
      return Contradiction("it has positions for more values than there are");
    int64_t element = 0;
    for (int d = 0; d < shape_.rank(); ++d) {
      int64_t at = at_[d];
      if (block_of_[d] >= 0) at = at * block_size_[d] + at_[block_of_[d]];
      if (at < 0 || at >= shape_[d]) return Contradiction("an index lies outside the shape");
      element = element * shape_[d] + at;
    }
    std::memcpy(&dense_[static_cast<size_t>(element) * element_bytes_],
                &values_[static_cast<size_t>(value) * element_bytes_], element_bytes_);
    return Status::Ok();
  }

  Shape shape_;
  std::span<const std::byte> values_;
  size_t element_bytes_, value_count_;
  std::vector<Level> levels_;
  std::array<int, Shape::kMaxRank> block_of_{}, block_size_{};
  std::array<int32_t, kMaxLevels> at_{};
  std::vector<std::byte> dense_;
};

}  // namespace

size_t ListBytes(const wire::SparsityParameters& sparsity) {
  size_t bytes = sparsity.traversal_order() == nullptr ? 0 : 4 * size_t{sparsity.traversal_order()->size()};
  if (sparsity.block_map() != nullptr) bytes += 4 * size_t{sparsity.block_map()->size()};
  for (uint32_t k = 0; sparsity.dim_metadata() != nullptr && k < sparsity.dim_metadata()->size(); ++k) {
    const wire::DimensionMetadata& level = *sparsity.dim_metadata()->Get(k);
    bytes += ListBytes(level.array_segments_type(), level.array_segments());
    bytes += ListBytes(level.array_indices_type(), level.array_indices());
  }
  return bytes;
}

Result<std::vector<std::byte>> MakeDense(const wire::SparsityParameters& sparsity, const Shape& shape,
                                         std::span<const std::byte> values, size_t element_bytes) {
  DenseMaker maker(shape, values, element_bytes);
  HEARTH_TRY(maker.ReadLevels(sparsity));
  return maker.Make();
}

}  // namespace hearth
