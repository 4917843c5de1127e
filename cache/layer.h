// A read-only store before the writable one, under the rules of imports: a trusted key must have signed it, or the
// caller must trust it. A layer that only root can have filled needs neither. What a trusted key has signed is checked
// and keeps its signer in any case.
#ifndef HEARTH_CACHE_LAYER_H_
#define HEARTH_CACHE_LAYER_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "cache/signature.h"
#include "cache/wait_budget.h"
#include "core/base/blob_store.h"

namespace hearth {

struct LayerRequest {
  std::filesystem::path bundle;         // a bundle's folder or file, or a cache
  std::vector<PublicKey> trusted_keys;  // a bundle signed by one is used; each read checks the entry
  bool is_trusted = false;              // used also without a signature
  SessionWaits* waits = nullptr;        // must outlive the store
  int64_t latest_ms = 0;                // that the session's cache has seen (latest_time.h)
};

// kIoError: it is not trusted, or others may write to it; the message says what to do. kNotFound: it does not exist.
Result<std::unique_ptr<BlobStore>> OpenLayer(const LayerRequest& request);

}  // namespace hearth

#endif  // HEARTH_CACHE_LAYER_H_
