// A read-only store before the writable one, under the rule of imports: what a trusted key has signed, or what the
// caller says to trust. What only root can have put there needs neither.
#ifndef HEARTH_CACHE_LAYER_H_
#define HEARTH_CACHE_LAYER_H_

#include <filesystem>
#include <memory>
#include <vector>

#include "cache/signature.h"
#include "cache/wait_budget.h"
#include "core/base/blob_store.h"

namespace hearth {

struct LayerRequest {
  std::filesystem::path bundle;         // a bundle's folder or file, or a cache
  std::vector<PublicKey> trusted_keys;  // a bundle that one of them has signed is used, entry by entry as it promises
  bool is_trusted = false;              // used as it lies
  SessionWaits* waits = nullptr;        // must outlive the store
};

// kIoError: nobody stands behind it, or others may write to it; the message says what to do. kNotFound: there is none.
Result<std::unique_ptr<BlobStore>> OpenLayer(const LayerRequest& request);

}  // namespace hearth

#endif  // HEARTH_CACHE_LAYER_H_
