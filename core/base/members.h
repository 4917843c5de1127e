// Counts and visits the members of a plain struct without a list, so none can be forgotten.
#ifndef HEARTH_CORE_BASE_MEMBERS_H_
#define HEARTH_CORE_BASE_MEMBERS_H_

#include <cstddef>
#include <type_traits>
#include <utility>

namespace hearth {
namespace members_internal {

struct Anything {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor): never called, it only fits everywhere
};

template <size_t>
using AnythingAt = Anything;

template <typename T, size_t... I>
constexpr bool TakesMembers(std::index_sequence<I...>) {
  return requires {
    T{AnythingAt<I>{}...};
  };
}

inline constexpr size_t kMostMembers = 64;

// From above: a struct whose last members have no default takes all of them or none.
template <typename T, size_t kCount = kMostMembers>
constexpr size_t CountMembers() {
  if constexpr (kCount == 0 || TakesMembers<T>(std::make_index_sequence<kCount>())) {
    return kCount;
  } else {
    return CountMembers<T, kCount - 1>();
  }
}

}  // namespace members_internal

// Precondition: T is a struct without bases and constructors, whose members are not C arrays.
template <typename T>
inline constexpr size_t kMemberCount = members_internal::CountMembers<std::remove_cvref_t<T>>();

// visit(first member, second member, ...). A struct with more members than this function knows does not compile.
template <typename T, typename Visit>
decltype(auto) VisitMembers(T& value, Visit&& visit) {
  constexpr size_t kCount = kMemberCount<T>;
  static_assert(kCount <= 13, "add a line for structs of this size");
  if constexpr (kCount == 0) {
    return visit();
  } else if constexpr (kCount == 1) {
    auto& [a] = value;
    return visit(a);
  } else if constexpr (kCount == 2) {
    auto& [a, b] = value;
    return visit(a, b);
  } else if constexpr (kCount == 3) {
    auto& [a, b, c] = value;
    return visit(a, b, c);
  } else if constexpr (kCount == 4) {
    auto& [a, b, c, d] = value;
    return visit(a, b, c, d);
  } else if constexpr (kCount == 5) {
    auto& [a, b, c, d, e] = value;
    return visit(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    auto& [a, b, c, d, e, f] = value;
    return visit(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    return visit(a, b, c, d, e, f, g);
  } else if constexpr (kCount == 8) {
    auto& [a, b, c, d, e, f, g, h] = value;
    return visit(a, b, c, d, e, f, g, h);
  } else if constexpr (kCount == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = value;
    return visit(a, b, c, d, e, f, g, h, i);
  } else if constexpr (kCount == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = value;
    return visit(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (kCount == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = value;
    return visit(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (kCount == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = value;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = value;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m);
  }
}

// Whether each member of one struct equals that of the other.
template <typename T>
bool HaveEqualMembers(const T& one, const T& other) {
  return VisitMembers(one, [&](const auto&... of_one) {
    return VisitMembers(other, [&](const auto&... of_other) { return ((of_one == of_other) && ...); });
  });
}

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_MEMBERS_H_
