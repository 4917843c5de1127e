// A session and its cache: opening it, what it is told of the model, and what a start leaves in it.
#ifndef HEARTH_FRONTENDS_API_SESSION_STORE_H_
#define HEARTH_FRONTENDS_API_SESSION_STORE_H_

#include <cstddef>
#include <span>
#include <string>

#include "core/base/blob_store.h"

namespace hearth {

struct ModelData;
struct SessionData;

// A cache that can't be had is a warning, never an error.
void OpenStore(SessionData& data);

// What the plan's key says of the model. One that was built and not read has no bytes; nobody sends it in.
std::string NameOfModel(const SessionData& data, BlobStore::NameUse use);

// The next start finds `name`, which NameOfModel computed, by the file's stamp.
void RememberModel(const SessionData& data, const std::string& name);

// What devices hold now need not lie in host memory too. A model given in memory keeps its copy.
void ReleasePages(const ModelData& model, std::span<const std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SESSION_STORE_H_
