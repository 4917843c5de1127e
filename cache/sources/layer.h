// A read-only source before the own store, under the rules of imports: a trusted key must have signed it, or the caller
// must trust it. A layer that only root can have filled needs neither. What a trusted key has signed is checked and
// keeps its signer in any case.
#ifndef HEARTH_CACHE_SOURCES_LAYER_H_
#define HEARTH_CACHE_SOURCES_LAYER_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "cache/files/wait_budget.h"
#include "cache/trust/signature.h"
#include "core/store/entry_source.h"

namespace hearth {

struct LayerRequest {
  std::filesystem::path path;           // of a bundle, or of a cache's folder, which no key signs
  std::vector<PublicKey> trusted_keys;  // a bundle signed by one is used; each read checks the entry
  bool is_trusted = false;              // used also without a signature
  SessionWaits* waits = nullptr;        // must outlive the layer
  int64_t latest_ms = 0;                // that the session's cache has seen (cache/store/session_records.h)
};

// kIoError: it is not trusted, or others may write to it; the message says what to do. kNotFound: it does not exist.
Result<std::unique_ptr<EntrySource>> OpenLayer(const LayerRequest& request);

}  // namespace hearth

#endif  // HEARTH_CACHE_SOURCES_LAYER_H_
