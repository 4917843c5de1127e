// Writes values as bytes, every member of every struct in the order of its declaration: plan_fields.h.
#ifndef HEARTH_CORE_PLAN_MEMBER_WRITER_H_
#define HEARTH_CORE_PLAN_MEMBER_WRITER_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/text.h"
#include "core/graph/block_scales.h"
#include "core/plan/plan_fields.h"

namespace hearth {

class MemberWriter {
 public:
  [[maybe_unused]] static constexpr bool kReads = false;

  template <typename... T>
  void operator()(const T&... fields) {
    (Item(fields), ...);
  }

  std::vector<std::byte> TakeBytes() { return std::move(bytes_); }

 private:
  template <typename T>
  void Item(const T& item) {
    if constexpr (std::is_enum_v<T>) {
      Item(static_cast<std::underlying_type_t<T>>(item));
    } else if constexpr (std::is_same_v<T, float>) {
      Item(std::bit_cast<uint32_t>(item));
    } else if constexpr (std::is_same_v<T, double>) {
      Item(std::bit_cast<uint64_t>(item));
    } else if constexpr (std::is_integral_v<T>) {
      const auto number = static_cast<uint64_t>(item);
      for (size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(static_cast<std::byte>(number >> (8 * i)));
    } else {
      Fields(*this, item);
    }
  }

  void Item(const std::string& text) { Raw(BytesOf(text)); }
  void Item(const std::vector<std::byte>& bytes) { Raw(bytes); }

  void Raw(std::span<const std::byte> bytes) {
    Item(uint64_t{bytes.size()});
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  template <typename T>
  void Item(const std::vector<T>& items) {
    Item(uint64_t{items.size()});
    for (const T& item : items) Item(item);
  }

  template <typename T, size_t N>
  void Item(const std::array<T, N>& items) {
    for (const T& item : items) Item(item);
  }

  template <typename T>
  void Item(const std::optional<T>& item) {
    Item(item.has_value());
    if (item.has_value()) Item(*item);
  }

  void Item(const std::shared_ptr<const BlockScales>& blocks) {
    Item(blocks != nullptr);
    if (blocks == nullptr) return;
    const auto& [size, scales, zeros, zero, has_unsigned_nibbles] = *blocks;
    (*this)(size, zero, has_unsigned_nibbles);
    for (const auto& numbers : {scales, zeros}) {
      (*this)(numbers.dtype, numbers.row_step, numbers.block_step, numbers.source);
      Raw(numbers.bytes);
    }
  }

  void Item(const Shape& shape) {
    Item(static_cast<uint8_t>(shape.rank()));
    for (int32_t dim : shape.dims()) Item(dim);
  }

  template <typename... T>
  void Item(const std::variant<T...>& item) {
    Item(static_cast<uint8_t>(item.index()));
    std::visit([&](const auto& alternative) { Item(alternative); }, item);
  }

  void Item(const Op& op) { Item(static_cast<const OpVariant&>(op)); }

  // Only the CPU runs these, and plans with steps on the CPU are neither stored nor proved.
  void Item(const Loop& /*loop*/) {}
  void Item(const Custom& /*custom*/) {}

  std::vector<std::byte> bytes_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_MEMBER_WRITER_H_
