// JSON objects by their members, in order. nlohmann's own initializer lists make a list of each pair first, which took
// 37 KB more of libhearth.so.
#ifndef HEARTH_FRONTENDS_API_JSON_OBJECT_H_
#define HEARTH_FRONTENDS_API_JSON_OBJECT_H_

#include <initializer_list>
#include <nlohmann/json.hpp>

namespace hearth {

using Json = nlohmann::ordered_json;

struct JsonMember {
  const char* name;
  mutable Json value;  // moved from
};

inline Json JsonObject(std::initializer_list<JsonMember> members) {
  Json object = Json::object();
  for (const JsonMember& member : members)
    object.get_ref<Json::object_t&>().emplace_back(member.name, std::move(member.value));
  return object;
}

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_JSON_OBJECT_H_
