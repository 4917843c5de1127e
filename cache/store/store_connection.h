// The open file of a store, and what a session does when something happens to it: damage, another file under its name,
// a fork, a full disk.
#ifndef HEARTH_CACHE_STORE_STORE_CONNECTION_H_
#define HEARTH_CACHE_STORE_STORE_CONNECTION_H_

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/files/database.h"
#include "cache/store/store_file.h"

namespace hearth {

// The parts of a store share one connection, and lock its mutex around each use.
//
// In a forked child the connection belongs to the parent: IsForked is asked before locking, because the lock may have
// been held at the fork.
class StoreConnection {
 public:
  // Finds or makes the store in `options.folder` under the rules of folder.h, and repairs it. After an error there is
  // no cache: the caller warns and goes on without.
  static Result<std::unique_ptr<StoreConnection>> Open(StoreOptions options);
  // `on_file` is called now and with each file that is opened later, to prepare what belongs to it, and with null
  // before a file is closed. Call it once, before other threads have the connection. An error means that there is no
  // cache.
  using OnFile = std::function<Status(Database*)>;
  Status Attach(OnFile on_file);
  ~StoreConnection();  // does not call `on_file`
  StoreConnection(const StoreConnection&) = delete;
  StoreConnection& operator=(const StoreConnection&) = delete;

  bool IsForked() const { return ::getpid() != opener_; }
  std::mutex& mutex() const { return mutex_; }
  const StoreOptions& options() const { return options_; }
  SessionWaits& waits() { return waits_; }

  // The rest needs the lock.

  // Null after an error that could not be repaired.
  Database* database() { return database_ ? &*database_ : nullptr; }
  bool is_read_only() const { return read_only_; }
  bool is_writable() const { return database_.has_value() && !read_only_; }
  // The store's path. If the cache was cleared meanwhile, puts go into the new file of that name.
  const std::filesystem::path& file() const { return file_; }

  // Runs `read` on the open database, once more if it meets damage: a disk that fails once looks the same. Damage that
  // shows again, and other trouble, is noted. kNotFound: there is no database.
  using Work = std::function<Status(Database&)>;
  Status Read(std::string_view what, const Work& read);
  // Runs `write` in the file that has the store's name now; once more after damage, in a new file if need be.
  // kNotFound: nothing can be stored, of which the user has been warned. Other trouble is left to the caller.
  Status Write(const Work& write);
  // The same without the mending.
  Status WriteOnce(const Work& write);
  // Opens the file that has the store's name now, if that is another one: the cache may have been cleared or rewritten,
  // and other sessions should find what this session stores.
  void OpenNamedFile();

  // Empties the log where it and the file would exceed the limit with `needed_bytes` more. That works when no session
  // reads in the log. Precondition: there is a database.
  void KeepLogInBudget(uint64_t needed_bytes);

  // A warning, once for each kind of trouble. Damage is healed: the file is moved aside, once in a session, and a new
  // one opened.
  void NoteTrouble(std::string_view what, const Status& status);
  // Damage that sqlite does not notice may spoil later entries again and again: the whole file is read to find it.
  void CheckStructure(Status damage = {});
  Warnings& warnings() { return warnings_; }
  void Close();

 private:
  StoreConnection(StoreOptions options, std::unique_ptr<SessionWaits> own_waits, Database database, Warnings warnings);
  bool ReadAgain(Status& damage);
  void Heal(const Status& damage);
  void Reopen();
  void TakeOver(Database database);

  const pid_t opener_ = ::getpid();
  std::unique_ptr<SessionWaits> own_waits_;  // if the options have none
  SessionWaits& waits_;
  OnFile on_file_;
  mutable std::mutex mutex_;  // guards everything below
  StoreOptions options_;
  Warnings warnings_;
  std::optional<Database> database_;
  std::filesystem::path file_;
  FileIdentity identity_;
  bool read_only_ = false;
  bool has_read_again_ = false;
  bool has_healed_ = false;
};

// ---- The write-ahead log: others' commits go there until a checkpoint copies them into the file ----

uint64_t LogBytes(const Database& database);  // 0 without a log

// Copies the log into the file and empties it, outside a transaction. Returns false if others still read in it or write
// after `wait_ms`. Afterwards the database waits within `waits_after`; null: it does not wait.
bool EmptyLog(Database& database, int wait_ms, WaitBudget* waits_after = nullptr);

// Empties the log if it has grown beyond 32 MiB. At each commit beyond 16 MiB sqlite copies the log into the file
// beside writers, and restarts the log when nobody reads in it; where that does not suffice, this waits for readers.
constexpr uint64_t kMostLogBytes = uint64_t{32} << 20;
void KeepLogSmall(Database& database);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_STORE_CONNECTION_H_
