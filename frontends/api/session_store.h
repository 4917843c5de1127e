// A session's cache: opening it, naming the model in it, releasing memory after it is filled.
#ifndef HEARTH_FRONTENDS_API_SESSION_STORE_H_
#define HEARTH_FRONTENDS_API_SESSION_STORE_H_

#include <cstddef>
#include <span>
#include <string>

#include "core/store/result_cache.h"

namespace hearth {

struct ModelData;
struct SessionData;

// A cache that can't be opened is a warning, never an error.
void OpenStore(SessionData& data);

// The model's name in the plan's key. A built model has no file bytes; it does not come from outside.
std::string NameOfModel(const SessionData& data, NameUse use);

// Remembers `name`, which NameOfModel computed, so that the next start finds it by the file's stamp.
void RememberModel(const SessionData& data, const std::string& name);

// Releases mapped pages of weights that the devices hold now. A model given in memory keeps its copy.
void ReleasePages(const ModelData& model, std::span<const std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SESSION_STORE_H_
