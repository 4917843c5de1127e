// Keys from requests: the members of a request are the key of its result.
//
// A request is a plain struct with a `static constexpr BlobKind kKind`. Each member is a Field, a Content, an Unkeyed,
// or of a type with an AddToKey of its own. One of any other type does not compile, so no argument of the function that
// makes the result can be forgotten.
#ifndef HEARTH_CORE_STORE_KEY_REQUEST_H_
#define HEARTH_CORE_STORE_KEY_REQUEST_H_

#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/members.h"
#include "core/store/cache_key.h"

namespace hearth {

// A field's name in the key, and its word in `hearth cache explain`.
struct KeyField {
  std::string_view name, word;
};

inline constexpr KeyField kModelTokenField = {"model token", "option"};

inline std::string FieldText(const std::string& text) {
  return text;
}
inline std::string FieldText(bool flag) {
  return flag ? "on" : "";
}
template <std::integral Number>
std::string FieldText(Number number) {
  return std::to_string(number);
}

// A member that is a field of its own. Its type's default is left out of the key.
template <const KeyField& kField, typename T = std::string>
struct Field {
  Field(T v = {}) : value(std::move(v)) {}     // NOLINT(google-explicit-constructor): a member is set like its value
  operator const T&() const { return value; }  // NOLINT(google-explicit-constructor): and read like it
  T value;
};

// A member that is long content: the key has its name, which the cache computes or remembers.
template <const KeyField& kField>
struct Content {
  std::span<const std::byte> bytes;
};

// A member that making needs and on which the result does not depend, or that other members of the key tell.
template <typename T>
struct Unkeyed {
  T value;
};

template <const KeyField& kField, typename T>
void AddToKey(CacheKey& key, const Field<kField, T>& field) {
  if (field.value != T{}) key.Add(kField.name, FieldText(field.value));
}
template <typename T>
void AddToKey(CacheKey& /*key*/, const Unkeyed<T>& /*member*/) {}

using NameContent = std::function<std::string(std::span<const std::byte>)>;

namespace key_request_internal {

template <typename Member>
void AddMember(CacheKey& key, const Member& member, const NameContent& /*name_of*/) {
  AddToKey(key, member);
}
template <const KeyField& kField>
void AddMember(CacheKey& key, const Content<kField>& content, const NameContent& name_of) {
  key.Add(kField.name, name_of(content.bytes));
}

}  // namespace key_request_internal

template <typename Request>
CacheKey KeyOf(const Request& request, const NameContent& name_of = NameByHash) {
  CacheKey key(Request::kKind);
  VisitMembers(request, [&](const auto&... members) { (key_request_internal::AddMember(key, members, name_of), ...); });
  return key;
}

}  // namespace hearth

#endif  // HEARTH_CORE_STORE_KEY_REQUEST_H_
