// The parts of `hearth cache` about bundles: key, export, import, inspect.
#ifndef HEARTH_TOOLS_HEARTH_CACHE_BUNDLE_PARTS_H_
#define HEARTH_TOOLS_HEARTH_CACHE_BUNDLE_PARTS_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "hearth/cache.h"
#include "tools/hearth/cache_filter_flags.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/verb.h"

namespace hearth {

using RunCachePart = std::function<Result<ExitCode>(const Cache& cache)>;
// Adds a subcommand that calls `run`: name, description, example.
using AddCachePart = std::function<CLI::App*(const std::string& name, const std::string& description,
                                             const std::string& example, RunCachePart run)>;

class CacheBundleParts {
 public:
  // `output` must outlive this.
  explicit CacheBundleParts(const OutputOptions& output) : output_(output) {}
  void AddTo(const AddCachePart& add_part);

 private:
  Result<ExitCode> Key();
  Result<ExitCode> Export(const Cache& cache);
  Result<ExitCode> Import(const Cache& cache);
  Result<ExitCode> Inspect();

  const OutputOptions& output_;
  CacheFilterFlags filter_;
  std::string bundle_, key_file_, valid_for_, inspect_keys_;
  Cache::ExportOptions export_;
  Cache::ImportOptions import_;
};

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_CACHE_BUNDLE_PARTS_H_
