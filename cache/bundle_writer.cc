#include "cache/bundle_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cache/batched_puts.h"
#include "cache/bundle_file.h"
#include "cache/folder.h"
#include "cache/sqlite_store.h"
#include "cache/trusted_path.h"
#include "cache/write_all.h"
#include "core/base/descriptor.h"
#include "core/base/error.h"
#include "core/base/text_bytes.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

class FileWriter final : public BundleWriter {
 public:
  explicit FileWriter(BundleFileWriter file) : file_(std::move(file)) {}
  Status AddTexts(const BundleTexts& texts) override { return file_.AddTexts(texts); }
  Status Add(BundleEntry entry) override {
    return file_.AddEntry(entry.key.digest(), entry.key.material(), entry.bytes);
  }
  Status Finish() override { return file_.Finish(); }

 private:
  BundleFileWriter file_;
};

Status IsNotEmpty(const fs::path& bundle) {
  return Error(StatusCode::kInvalidArgument, "{} exists and is not an empty folder: choose another name",
               bundle.string());
}

// Folders that are removed again, where they are empty, unless they are kept.
class MadeFolders {
 public:
  // Call it before they are made: `folder` and those above it that are missing.
  void NoteMissing(const fs::path& folder) {
    std::error_code error;
    for (fs::path at = fs::absolute(folder, error); !error && at.has_relative_path(); at = at.parent_path()) {
      if (fs::symlink_status(at, error).type() != fs::file_type::not_found) return;
      error.clear();
      innermost_first_.push_back(at);
    }
  }
  void Keep() { innermost_first_.clear(); }
  ~MadeFolders() {
    for (const fs::path& folder : innermost_first_) ::rmdir(folder.c_str());
  }

 private:
  std::vector<fs::path> innermost_first_;
};

class FolderWriter final : public BundleWriter {
 public:
  explicit FolderWriter(fs::path folder) : folder_(std::move(folder)) {}
  ~FolderWriter() override {
    if (!is_claimed_ || is_finished_) return;
    store_.reset();
    std::error_code ignored;
    // The manifest is last, because the next export may claim the folder then.
    for (const char* name : {kStoreFileName, kSignatureName, kLockFileName, kManifestName}) {
      fs::remove(folder_ / name, ignored);
    }
  }

  Status AddTexts(const BundleTexts& texts) override {
    HEARTH_TRY(PrepareOwn());
    HEARTH_TRY(Claim(texts.manifest));
    StoreOptions options;
    options.folder = folder_;
    options.max_bytes = UINT64_MAX / 2;
    options.allow_write_ahead_log = false;
    HEARTH_ASSIGN(store_, SqliteStore::Open(options));
    puts_.emplace(*store_);
    return texts.signature.empty() ? Status::Ok() : WriteNew(kSignatureName, texts.signature);
  }

  Status Add(BundleEntry entry) override {
    puts_->Add(std::move(entry));
    return Status::Ok();
  }

  Status Finish() override {
    HEARTH_TRY(puts_->Finish());
    store_.reset();
    std::error_code ignored;
    fs::remove(folder_ / kLockFileName, ignored);
    is_finished_ = true;
    made_.Keep();
    return Status::Ok();
  }

 private:
  // Under the rules of those that will read it: a folder for all is refused.
  Status PrepareOwn() {
    made_.NoteMissing(folder_);
    HEARTH_ASSIGN(const fs::path folder, TrustedPath(folder_, LastName::kKept, MissingFolders::kAreMade));
    HEARTH_TRY(MakePrivateFolder(folder));
    HEARTH_ASSIGN(folder_, PrepareFolder(folder, FolderUse::kReadOnlyLayer));
    return Status::Ok();
  }

  // Two exports may have found the folder empty; only one of them makes the manifest.
  Status Claim(const std::string& manifest) {
    HEARTH_TRY(WriteNew(kManifestName, manifest));
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder_, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      if (entry->path().filename() == kManifestName) continue;
      fs::remove(folder_ / kManifestName, error);
      is_claimed_ = false;
      return IsNotEmpty(folder_);
    }
    return Status::Ok();
  }

  // Whatever the umask is, imports refuse a bundle that others may write.
  Status WriteNew(const char* name, const std::string& text) {
    const fs::path file = folder_ / name;
    const Descriptor descriptor(
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!descriptor.is_open() && errno == EEXIST) return IsNotEmpty(folder_);
    if (!descriptor.is_open()) return CantWrite(file);
    is_claimed_ = true;
    if (::fchmod(descriptor.get(), S_IRUSR | S_IWUSR) != 0) return CantWrite(file);
    return WriteAll(descriptor.get(), BytesOf(text), file);
  }

  static Status CantWrite(const fs::path& file) {
    return Error(StatusCode::kIoError, "can't write {}: {}", file.string(), std::strerror(errno));
  }

  MadeFolders made_;  // before the store, so that its folder is removed last
  fs::path folder_;
  std::unique_ptr<SqliteStore> store_;
  std::optional<BatchedPuts> puts_;
  bool is_claimed_ = false, is_finished_ = false;  // claimed: the manifest is ours, and so is what is beside it
};

}  // namespace

Result<std::unique_ptr<BundleWriter>> BundleWriter::Create(const fs::path& bundle) {
  if (bundle.extension() == kBundleFileSuffix) {
    HEARTH_ASSIGN(BundleFileWriter file, BundleFileWriter::Create(bundle));
    return std::unique_ptr<BundleWriter>(std::make_unique<FileWriter>(std::move(file)));
  }
  std::error_code error;
  if (fs::exists(bundle, error) && !fs::is_empty(bundle, error)) return IsNotEmpty(bundle);
  return std::unique_ptr<BundleWriter>(std::make_unique<FolderWriter>(bundle));
}

}  // namespace hearth
