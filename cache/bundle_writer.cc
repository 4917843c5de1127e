#include "cache/bundle_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
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
#include "core/base/text.h"

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

// Whether another folder can't take its place: it is a mount point, or the one in which this process was started, where
// the user would go on in a folder that is gone.
bool MustStay(const fs::path& folder) {
  struct statx info = {};
  const bool is_mount_point = ::statx(AT_FDCWD, folder.c_str(), AT_SYMLINK_NOFOLLOW, 0, &info) == 0 &&
                              (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  std::error_code error;
  return is_mount_point || fs::equivalent(folder, ".", error);
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
    store_.reset();
    std::error_code ignored;
    if (is_staged_) fs::remove_all(folder_, ignored);
    if (is_staged_ || !is_claimed_ || is_finished_) return;
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
    HEARTH_TRY(TakeName());
    is_finished_ = true;
    made_.Keep();
    return Status::Ok();
  }

 private:
  // Under the rules of those that will read it: a folder for all is refused.
  Status PrepareOwn() {
    made_.NoteMissing(folder_);
    HEARTH_ASSIGN(target_, TrustedPath(folder_, LastName::kKept, MissingFolders::kAreMade));
    folder_ = target_;
    struct stat info = {};
    const bool exists = ::lstat(target_.c_str(), &info) == 0;
    if (exists) {
      HEARTH_ASSIGN(target_, PrepareFolder(target_, FolderUse::kReadOnlyLayer));
      std::error_code error;
      if (!fs::is_empty(target_, error)) return IsNotEmpty(target_);
      mode_ = info.st_mode & 07777;
      if (MustStay(target_)) return Status::Ok();
    }
    std::string name = target_.string() + ".XXXXXX";
    is_staged_ = ::mkdtemp(name.data()) != nullptr;
    // Where nothing can be made beside it, the user's empty folder is filled where it is.
    if (!is_staged_) return exists ? Status::Ok() : CantWrite(target_);
    folder_ = name;
    return ::chmod(folder_.c_str(), S_IRWXU) == 0 ? Status::Ok() : CantWrite(folder_);  // whatever the umask is
  }

  // An empty folder of that name goes, but its mode stays.
  Status TakeName() {
    if (!is_staged_) return Status::Ok();
    if (::chmod(folder_.c_str(), mode_) != 0) return CantWrite(folder_);
    if (::rename(folder_.c_str(), target_.c_str()) != 0) {
      const bool is_taken = errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR;
      return is_taken ? IsNotEmpty(target_) : CantWrite(target_);
    }
    is_staged_ = false;
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
    HEARTH_TRY(WriteAll(descriptor.get(), BytesOf(text), file));
    return ::fsync(descriptor.get()) == 0 ? Status::Ok() : CantWrite(file);
  }

  static Status CantWrite(const fs::path& file) {
    return Error(StatusCode::kIoError, "can't write {}: {}", file.string(), std::strerror(errno));
  }

  MadeFolders made_;          // before the store, so that its folder is removed last
  fs::path folder_, target_;  // where it is written, and where it goes
  std::unique_ptr<SqliteStore> store_;
  std::optional<BatchedPuts> puts_;
  mode_t mode_ = S_IRWXU;                          // of the target
  bool is_staged_ = false;                         // the folder is beside its target, and all in it is ours
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
