// The native functions of dev.hearth.Native about the cache.
#include <dev_hearth_Native.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "frontends/java/jni_values.h"

namespace hearth::java {
namespace {

struct Question {
  const hearth_cache* cache;
  std::vector<std::string> arguments;
  const hearth_options* options;

  const char* text(size_t index) const { return arguments[index].c_str(); }
  const char* text_or_null(size_t index) const { return arguments[index].empty() ? nullptr : text(index); }
  int32_t is_set(size_t index) const { return arguments[index].empty() ? 0 : 1; }
};

struct Verb {
  std::string_view name;
  size_t arguments;
  hearth_status (*ask)(const Question& q, char** json);
};

constexpr Verb kVerbs[] = {
    {"list", 0, [](auto& q, auto json) { return hearth_cache_list(q.cache, json); }},
    {"stats", 0, [](auto& q, auto json) { return hearth_cache_stats(q.cache, json); }},
    {"models", 0, [](auto& q, auto json) { return hearth_cache_models(q.cache, json); }},
    {"examine", 0, [](auto& q, auto json) { return hearth_cache_examine(q.cache, json); }},
    {"verify", 1, [](auto& q, auto json) { return hearth_cache_verify(q.cache, q.is_set(0), json); }},
    {"prune", 1,
     [](auto& q, auto json) { return hearth_cache_prune(q.cache, std::strtoull(q.text(0), nullptr, 10), json); }},
    {"clear", 2, [](auto& q, auto json) { return hearth_cache_clear(q.cache, q.text(0), q.text(1), json); }},
    {"pin", 2, [](auto& q, auto) { return hearth_cache_pin(q.cache, q.text(0), q.is_set(1)); }},
    {"remove", 1, [](auto& q, auto json) { return hearth_cache_remove(q.cache, q.text(0), json); }},
    {"explain", 1, [](auto& q, auto json) { return hearth_cache_explain(q.cache, q.text(0), q.options, json); }},
    {"warm", 2,
     [](auto& q, auto json) {
       const char *const model = q.text(0), *const device = q.text(1);
       return hearth_cache_warm(q.cache, &model, 1, &device, 1, q.options, json);
     }},
    {"export", 2, [](auto& q, auto json) { return hearth_cache_export(q.cache, q.text(0), q.text_or_null(1), json); }},
    {"import", 3,
     [](auto& q, auto json) { return hearth_cache_import(q.cache, q.text(0), q.text_or_null(1), q.is_set(2), json); }},
};

Owned<hearth_cache> Open(JNIEnv* env, jbyteArray folder) {
  hearth_cache* cache = nullptr;
  Throws(env, hearth_cache_open(TextOf(env, folder).c_str(), &cache));
  return Owned<hearth_cache>(cache);
}

}  // namespace
}  // namespace hearth::java

// NOLINTBEGIN(readability-identifier-naming): names that Java makes

jbyteArray Java_dev_hearth_Native_cache(JNIEnv* env, jclass, jbyteArray folder, jbyteArray verb, jobjectArray arguments,
                                        jobjectArray options) {
  return hearth::java::Guarded(env, [&]() -> jbyteArray {
    const auto cache = hearth::java::Open(env, folder);
    if (cache == nullptr) return nullptr;
    const auto given = hearth::java::OptionsOf(env, options, nullptr, nullptr);
    if (given == nullptr) return nullptr;
    const hearth::java::Question question{cache.get(), hearth::java::TextsOf(env, arguments), given.get()};
    const std::string name = hearth::java::TextOf(env, verb);
    const auto* row = std::ranges::find(hearth::java::kVerbs, name, &hearth::java::Verb::name);
    if (row == std::end(hearth::java::kVerbs) || row->arguments != question.arguments.size()) {
      hearth::java::ThrowInvalid(env, "the jar and its native library are of different versions");
      return nullptr;
    }
    char* json = nullptr;
    const hearth_status status = row->ask(question, &json);
    const hearth::java::Owned<char> owned(json);
    return hearth::java::Throws(env, status) ? nullptr : hearth::java::BytesOf(env, json);
  });
}

jbyteArray Java_dev_hearth_Native_cacheFolder(JNIEnv* env, jclass, jbyteArray folder) {
  return hearth::java::Guarded(env, [&]() -> jbyteArray {
    const auto cache = hearth::java::Open(env, folder);
    return cache == nullptr ? nullptr : hearth::java::BytesOf(env, hearth_cache_folder(cache.get()));
  });
}

// NOLINTEND(readability-identifier-naming)
