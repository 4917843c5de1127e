// What comes with a bundle: the manifest, and the material of its entries' keys.
#include <string_view>

#include "cache/trust/manifest.h"
#include "core/base/fingerprint.h"
#include "tests/fuzz/fuzzer.h"

namespace hearth {

void FuzzOne(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  static_cast<void>(DecodeKeyMaterial(text));
  const Result<Manifest> manifest = Manifest::FromText(text);
  if (!manifest.ok()) return;
  const Result<Manifest> again = Manifest::FromText(manifest->ToText());
  Expect(again.ok() && again->ToText() == manifest->ToText(), "a manifest that was read can be written and read again");
}

}  // namespace hearth
