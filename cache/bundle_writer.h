// Writes bundles, as a file or a folder.
#ifndef HEARTH_CACHE_BUNDLE_WRITER_H_
#define HEARTH_CACHE_BUNDLE_WRITER_H_

#include <filesystem>
#include <memory>

#include "cache/bundle_reader.h"
#include "cache/signed_manifest.h"
#include "hearth/status.h"

namespace hearth {

// The bundle that is written. It gets its name when it is complete, so a killed export leaves no bundle. The destructor
// removes an unfinished one, with the folders that were made for it, and never what another process made.
class BundleWriter {
 public:
  // A file where the name ends in ".tar", else a folder. kInvalidArgument, here or later, if something has the name
  // already, except an empty folder.
  static Result<std::unique_ptr<BundleWriter>> Create(const std::filesystem::path& bundle);
  virtual ~BundleWriter() = default;

  virtual Status AddTexts(const BundleTexts& texts) = 0;  // call it first
  virtual Status Add(BundleEntry entry) = 0;              // call it in the order of the manifest
  virtual Status Finish() = 0;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_BUNDLE_WRITER_H_
