#include "cache/store/store_connection.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "cache/files/store_names.h"

namespace hearth {
namespace {

constexpr int kReadersWaitMs = 50;  // shorter than writers' patience

}  // namespace

Result<std::unique_ptr<StoreConnection>> StoreConnection::Open(StoreOptions options) {
  const FolderUse use = !options.read_only  ? FolderUse::kCreate
                        : options.immutable ? FolderUse::kReadOnlyLayer
                                            : FolderUse::kExisting;
  HEARTH_ASSIGN(options.folder, PrepareFolder(options.folder, use));
  Warnings warnings;
  auto own_waits = std::make_unique<SessionWaits>();
  WaitBudget& waits = (options.waits != nullptr ? options.waits : own_waits.get())->others;
  HEARTH_ASSIGN(Database database, OpenStoreFile(options, waits, warnings));
  return std::unique_ptr<StoreConnection>(
      new StoreConnection(std::move(options), std::move(own_waits), std::move(database), std::move(warnings)));
}

Status StoreConnection::Attach(OnFile on_file) {
  on_file_ = std::move(on_file);
  Status status = on_file_(&*database_);
  if (status.code() == StatusCode::kMalformedInput && ReadAgain(status)) return Status::Ok();
  if (status.ok()) return status;
  NoteTrouble("opening", status);
  return status.code() == StatusCode::kMalformedInput && database_ ? Status::Ok() : status;
}

StoreConnection::StoreConnection(StoreOptions options, std::unique_ptr<SessionWaits> own_waits, Database database,
                                 Warnings warnings)
    : own_waits_(std::move(own_waits)),
      waits_(options.waits != nullptr ? *options.waits : *own_waits_),
      options_(std::move(options)),
      warnings_(std::move(warnings)),
      database_(std::move(database)),
      file_(database_->file()),
      identity_(IdentityOfOpened(*database_)),
      read_only_(database_->read_only()) {
  if (!read_only_ || options_.read_only) return;
  const std::string why = ::access(file_.c_str(), W_OK) != 0 ? ""
                          : Database::IsForkedFromAUser()    ? "; this process was forked from one that has it open"
                          : !HasLocks(options_.folder)       ? "; its file system has no locks"
                                                             : "; " + FullDiskText(options_.folder);
  warnings_.Add("read-only", fmt::format("{} can't be written: its entries are used, but nothing new is stored{}",
                                         file_.string(), why));
}

StoreConnection::~StoreConnection() {
  if (IsForked() && database_) database_->Abandon();
  if (!IsForked()) CloseStoreFile(database_, options_.folder, waits_.others);
}

void StoreConnection::Close() {
  if (!database_) return;
  static_cast<void>(on_file_(nullptr));
  CloseStoreFile(database_, options_.folder, waits_.others);
}

Status StoreConnection::Read(std::string_view what, const Work& read) {
  if (!database_) return Error(StatusCode::kNotFound, "the cache is gone");
  Status status = read(*database_);
  if (status.code() == StatusCode::kMalformedInput && ReadAgain(status)) status = read(*database_);
  if (!status.ok()) NoteTrouble(what, status);
  return status;
}

Status StoreConnection::WriteOnce(const Work& write) {
  OpenNamedFile();
  if (!is_writable()) return Error(StatusCode::kNotFound, "the cache can't be written");
  Status status = write(*database_);
  // Another file may have taken the name since then.
  if (status.code() != StatusCode::kUnavailable || !database_->has_moved()) return status;
  OpenNamedFile();
  return is_writable() ? write(*database_) : status;
}

Status StoreConnection::Write(const Work& write) {
  Status status = WriteOnce(write);
  if (status.code() == StatusCode::kMalformedInput && ReadAgain(status) && is_writable()) status = write(*database_);
  if (status.code() != StatusCode::kMalformedInput) return status;
  Heal(status);
  return is_writable() ? write(*database_) : status;
}

void StoreConnection::NoteTrouble(std::string_view what, const Status& status) {
  if (status.code() == StatusCode::kMalformedInput) return Heal(status);
  warnings_.Add(fmt::format("{} {}", what, StatusCodeName(status.code())),
                fmt::format("{} the cache {} failed: {}", what, file_.string(), status.message()));
}

void StoreConnection::CheckStructure(Status damage) {
  if (damage.ok()) damage = database_->CheckStructure();
  if (damage.code() == StatusCode::kMalformedInput && ReadAgain(damage)) damage = database_->CheckStructure();
  if (damage.code() == StatusCode::kMalformedInput) Heal(damage);
}

// Opens the file again after damage. Returns false the second time, and if the file can't be opened any more; `damage`
// then has the reason.
bool StoreConnection::ReadAgain(Status& damage) {
  if (std::exchange(has_read_again_, true)) return false;
  Close();
  Result<Database> again = OpenStoreFileAsItIs(options_, waits_.others);
  if (!again.ok()) {
    damage = again.status();
    return false;
  }
  TakeOver(std::move(again).value());
  return database_.has_value();
}

void StoreConnection::Heal(const Status& damage) {
  Close();
  warnings_.Add("damaged", fmt::format("the cache {} is damaged{}: {}", file_.string(),
                                       read_only_ ? "" : " and starts empty", damage.message()));
  if (read_only_ || std::exchange(has_healed_, true)) return;
  if (MoveAside(options_, file_, waits_.others, identity_).ok()) Reopen();
}

void StoreConnection::KeepLogInBudget(uint64_t needed_bytes) {
  const bool is_larger = BytesWithLog(file_) + needed_bytes > options_.max_bytes;
  if (LogBytes(*database_) > 0 && is_larger) EmptyLog(*database_, 0, &waits_.others);
}

void StoreConnection::OpenNamedFile() {
  if (!is_writable() || !database_->has_moved()) return;
  Close();
  Reopen();
}

void StoreConnection::Reopen() {
  Result<Database> fresh = OpenStoreFile(options_, waits_.others, warnings_);
  if (fresh.ok()) return TakeOver(std::move(fresh).value());
  warnings_.Add("gone", fmt::format("the cache {} was replaced during this run, and nothing new is stored: {}",
                                    file_.string(), fresh.status().message()));
}

void StoreConnection::TakeOver(Database database) {
  database_ = std::move(database);
  file_ = database_->file();
  identity_ = IdentityOfOpened(*database_);
  read_only_ = database_->read_only();
  if (!on_file_(&*database_).ok()) Close();
}

uint64_t LogBytes(const Database& database) {
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(database.file().string() + "-wal", error);
  return error ? 0 : bytes;
}

bool EmptyLog(Database& database, int wait_ms, WaitBudget* waits_after) {
  WaitBudget waits(wait_ms);
  database.SetWaits(&waits);
  const Result<int64_t> is_busy = database.Number("PRAGMA wal_checkpoint(TRUNCATE)");
  database.SetWaits(waits_after);
  return is_busy.ok() && *is_busy == 0;
}

void KeepLogSmall(Database& database) {
  if (LogBytes(database) > kMostLogBytes) EmptyLog(database, kReadersWaitMs);
}

}  // namespace hearth
