#include "cache/files/database.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "cache/files/sqlite_calls.h"
#include "core/base/blocked_signal.h"

namespace hearth {
namespace {

constexpr double kDatabasePollMs = 1;
constexpr int kRestOfTheRow = 1 << 16;
// Each row takes at least a pointer to it and a header.
constexpr uint64_t kLeastRowBytes = 4;

// The "file:" URI of a path, to which parameters can be added.
std::string UriOf(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (char c : file.string()) {
    if (c == '?' || c == '#' || c == '%') {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(c));
    } else {
      uri += c;
    }
  }
  return uri;
}

}  // namespace

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::Note(int code) {
  if (code != SQLITE_OK) bind_code_ = code;
}

Statement& Statement::Bind(int index, int64_t number) {
  Note(sqlite3_bind_int64(statement_.get(), index + 1, number));
  return *this;
}

Statement& Statement::Bind(int index, double number) {
  // sqlite would bind NULL, and the violated NOT NULL would look like a damaged file.
  Note(std::isnan(number) ? SQLITE_MISUSE : sqlite3_bind_double(statement_.get(), index + 1, number));
  return *this;
}

Statement& Statement::Bind(int index, std::string_view text) {
  Note(sqlite3_bind_text64(statement_.get(), index + 1, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Statement& Statement::Bind(int index, std::span<const std::byte> blob) {
  // A null pointer would bind NULL instead of an empty blob.
  const void* data = blob.empty() ? "" : static_cast<const void*>(blob.data());
  Note(sqlite3_bind_blob64(statement_.get(), index + 1, data, blob.size(), SQLITE_STATIC));
  return *this;
}

Result<bool> Statement::Step() {
  if (bind_code_ == SQLITE_TOOBIG) {
    bind_code_ = SQLITE_OK;
    return Error(StatusCode::kResourceExhausted, "a value is too long for sqlite");
  }
  if (bind_code_ != SQLITE_OK) return SqliteError(nullptr, std::exchange(bind_code_, SQLITE_OK));
  const BlockedSizeSignal held;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) {
    if (MayRead(RowBytes())) return true;
    return HasTooManyRows();
  }
  if (code != SQLITE_DONE) return WriteError(held, sqlite3_db_handle(statement_.get()), code);
  CountAnew();
  return false;
}

uint64_t Statement::RowBytes() const {
  uint64_t bytes = kLeastRowBytes;
  for (int column = 0; column < sqlite3_data_count(statement_.get()); ++column) {
    const int type = sqlite3_column_type(statement_.get(), column);
    if (type != SQLITE_TEXT && type != SQLITE_BLOB) continue;
    bytes += static_cast<uint64_t>(sqlite3_column_bytes(statement_.get(), column));
  }
  return bytes;
}

bool Statement::MayRead(uint64_t bytes) {
  read_bytes_ += bytes;
  return bound_->Holds(read_bytes_, sqlite3_db_handle(statement_.get()));
}

// A statement that is kept must not grow old: sqlite adds up the steps of all its runs.
void Statement::CountAnew() {
  read_bytes_ = 0;
  sqlite3_stmt_status(statement_.get(), SQLITE_STMTSTATUS_VM_STEP, 1);
}

Status Statement::Run() {
  StatementScope scope(*this);
  return ForEachRow([] {});
}

void Statement::Reset() {
  sqlite3_reset(statement_.get());
  CountAnew();
}

int64_t Statement::Number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::Real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string_view Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::span<const std::byte> Statement::Blob(int column) const {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

namespace {

// The open connections of this process: its process id in the upper half, their number in the lower. One word, so that
// no lock can be held at a fork.
std::atomic<uint64_t> open_connections{0};

uint64_t ThisProcess() {
  return static_cast<uint64_t>(::getpid()) << 32;
}

bool IsOfAnotherProcess(uint64_t count) {
  return static_cast<uint32_t>(count) != 0 && (count >> 32) != (ThisProcess() >> 32);
}

// Returns false if connections of the process that this one was forked from are still open.
bool CountOpened() {
  uint64_t count = open_connections;
  do {
    if (IsOfAnotherProcess(count)) return false;
  } while (!open_connections.compare_exchange_weak(count, (ThisProcess() | static_cast<uint32_t>(count)) + 1));
  return true;
}

void CountClosed() {
  --open_connections;
}

}  // namespace

// sqlite's VFS with another Sleep. sqlite may retry the locks of a log for 10 s, which no time-out bounds. Each
// connection has its own, so that sleeps count for its session.
struct Database::Vfs {
  sqlite3_vfs base;
  std::string name;
  WaitBudget* waits = nullptr;

  // Does not sleep if nothing is left: sqlite then soon runs out of attempts.
  static int Sleep(sqlite3_vfs* vfs, int microseconds) {
    WaitBudget* waits = reinterpret_cast<Vfs*>(vfs)->waits;
    if (waits != nullptr) waits->Sleep(microseconds / 1000.0);
    return microseconds;
  }
};

Database::Database(std::unique_ptr<Vfs, VfsRemover> vfs, sqlite3* connection)
    : vfs_(std::move(vfs)), connection_(connection), bound_(std::make_shared<FileBound>()) {}

void Database::VfsRemover::operator()(Vfs* vfs) const {
  sqlite3_vfs_unregister(&vfs->base);
  delete vfs;
}

void Database::Closer::operator()(sqlite3* connection) const {
  const BlockedSizeSignal held;
  sqlite3_close_v2(connection);
  if (is_counted) CountClosed();
}

bool Database::IsForkedFromAUser() {
  return IsOfAnotherProcess(open_connections);
}

Result<Database> Database::Open(const std::filesystem::path& file, Access access) {
  const bool is_counted = access != Access::kImmutable;
  if (is_counted && !CountOpened()) {
    return Error(StatusCode::kUnavailable,
                 "this process was forked from one that had the cache open, whose locks it does not have");
  }
  if (struct stat info; is_counted && ::stat(file.c_str(), &info) == 0 && !IsOnlySqliteOf(info)) {
    return Error(
        StatusCode::kUnavailable,
        "another copy of Hearth in this process has it open with an sqlite of its own, and each would undo the "
        "other's locks; give one of them another cache folder, or install both from one package");
  }
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE;
  flags |= access == Access::kReadWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  std::string name = file.string();
  if (access == Access::kImmutable) {
    flags |= SQLITE_OPEN_URI;
    name = UriOf(file) + "?immutable=1";
  }
  std::unique_ptr<Vfs, VfsRemover> vfs(new Vfs{*sqlite3_vfs_find(nullptr), {}});
  vfs->name = fmt::format("hearth-{}", static_cast<void*>(vfs.get()));
  vfs->base.zName = vfs->name.c_str();
  vfs->base.pNext = nullptr;
  vfs->base.xSleep = Vfs::Sleep;
  sqlite3_vfs_register(&vfs->base, 0);
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &connection, flags, vfs->name.c_str());
  if (connection == nullptr && is_counted) CountClosed();
  Database database(std::move(vfs), connection);
  database.connection_.get_deleter().is_counted = is_counted;
  database.file_ = file;
  if (code != SQLITE_OK) return SqliteError(connection, code);
  // The file may not be what Hearth wrote.
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  return database;
}

bool Database::read_only() const {
  return sqlite3_db_readonly(connection_.get(), "main") != 0;
}

void Database::Abandon() {
  static_cast<void>(connection_.release());
  static_cast<void>(vfs_.release());
}

int Database::SetLengthLimit(int bytes) const {
  return sqlite3_limit(connection_.get(), SQLITE_LIMIT_LENGTH, bytes);
}

uint64_t Database::max_value_bytes() const {
  const int current = SetLengthLimit(INT_MAX);
  return static_cast<uint64_t>(SetLengthLimit(current) - kRestOfTheRow);
}

void Database::SetLongestRead(uint64_t bytes) {
  HEARTH_CHECK(bytes < max_value_bytes());
  SetLengthLimit(static_cast<int>(bytes) + kRestOfTheRow);
}

void Database::SetMostSteps(int steps) {
  sqlite3_progress_handler(connection_.get(), steps, steps > 0 ? +[](void*) { return 1; } : nullptr, nullptr);
}

void Database::BoundByFileSize() {
  bound_->is_on = true;
  SetStepsOfFile();
}

void Database::SetStepsOfFile() {
  bound_->Look(connection_.get());
  SetMostSteps(bound_->MostSteps());
}

bool Database::has_moved() const {
  int has_moved = 0;
  const int code = sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
  return code == SQLITE_OK && has_moved != 0;
}

void Database::SetWaits(WaitBudget* waits) {
  vfs_->waits = waits;
  const auto wait = [](void* budget, int) { return static_cast<WaitBudget*>(budget)->Sleep(kDatabasePollMs) ? 1 : 0; };
  sqlite3_busy_handler(connection_.get(), waits != nullptr ? +wait : nullptr, waits);
}

void Database::SetCheckpointAtClose(bool is_wanted) {
  sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_wanted ? 0 : 1, nullptr);
}

Status Database::Run(const std::string& sql) {
  const BlockedSizeSignal held;
  const int code = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status::Ok() : WriteError(held, connection_.get(), code);
}

Result<Statement> Database::Prepare(std::string_view sql) {
  if (bound_->is_on) SetStepsOfFile();  // it may have grown
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(connection_.get(), sql.data(), static_cast<int>(sql.size()), 0, &statement, nullptr);
  if (code != SQLITE_OK) return SqliteError(connection_.get(), code);
  return Statement(statement, bound_);
}

Result<int64_t> Database::Number(std::string_view sql) {
  HEARTH_ASSIGN(Statement statement, Prepare(sql));
  HEARTH_ASSIGN(const bool row, statement.Step());
  return row ? statement.Number(0) : int64_t{0};
}

Result<std::string> Database::Text(std::string_view sql) {
  HEARTH_ASSIGN(Statement statement, Prepare(sql));
  HEARTH_ASSIGN(const bool row, statement.Step());
  return row ? std::string(statement.Text(0)) : std::string();
}

void Database::ReadAhead(int64_t at, int64_t size_bytes) {
  // With sqlite's descriptor: closing another one of this file would end all locks that this process has on it.
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return;
  if (file == nullptr || file->pMethods == nullptr) return;
  std::array<std::byte, 64 << 10> piece;
  for (const int64_t end = at + size_bytes; at < end; at += static_cast<int64_t>(piece.size())) {
    const int64_t piece_bytes = std::min(static_cast<int64_t>(piece.size()), end - at);
    if (file->pMethods->xRead(file, piece.data(), static_cast<int>(piece_bytes), at) != SQLITE_OK) return;
  }
}

Status Database::CheckStructure() {
  HEARTH_ASSIGN(const std::string found, Text("PRAGMA integrity_check(1)"));
  return found == "ok" ? Status::Ok() : Error(StatusCode::kMalformedInput, "{}", found);
}

Result<BlobReader> Database::OpenBlob(const char* table, const char* column, int64_t row) {
  sqlite3_blob* opened = nullptr;
  const int code = sqlite3_blob_open(connection_.get(), "main", table, column, row, 0, &opened);
  BlobReader blob(connection_.get(), opened);
  // sqlite reports a missing row or a value of another type as SQLITE_ERROR, but the entry has promised this blob.
  if (code == SQLITE_ERROR) return Error(StatusCode::kMalformedInput, "{} has no blob {}", table, row);
  if (code != SQLITE_OK) return SqliteError(connection_.get(), code);
  return blob;
}

void BlobReader::Closer::operator()(sqlite3_blob* blob) const {
  sqlite3_blob_close(blob);
}

uint64_t BlobReader::size_bytes() const {
  return static_cast<uint64_t>(sqlite3_blob_bytes(blob_.get()));
}

Status BlobReader::Read(std::span<std::byte> bytes) {
  HEARTH_CHECK(bytes.size() == size_bytes());
  return ReadPiece(0, bytes);
}

Status BlobReader::ReadPiece(uint64_t at, std::span<std::byte> bytes) {
  HEARTH_CHECK(at <= size_bytes() && bytes.size() <= size_bytes() - at);
  if (bytes.empty()) return Status::Ok();
  const int code = sqlite3_blob_read(blob_.get(), bytes.data(), static_cast<int>(bytes.size()), static_cast<int>(at));
  return code == SQLITE_OK ? Status::Ok() : SqliteError(connection_, code);
}

Result<Transaction> Transaction::Begin(Database& database) {
  HEARTH_TRY(database.Run("BEGIN IMMEDIATE"));
  Transaction transaction(&database, database.SetLengthLimit(INT_MAX));
  if (!database.has_moved()) return transaction;
  return Error(StatusCode::kUnavailable, "{} was replaced meanwhile, by clear or prune: try again",
               database.file().string());
}

Transaction::~Transaction() {
  if (database_ == nullptr) return;
  // After some errors sqlite has already rolled back; this call then fails harmlessly.
  static_cast<void>(database_->Run("ROLLBACK"));
  End();
}

Status Transaction::Commit() {
  HEARTH_TRY(database_->Run("COMMIT"));
  End();
  return Status::Ok();
}

void Transaction::End() {
  database_->SetLengthLimit(longest_before_);
  database_ = nullptr;
}

}  // namespace hearth
