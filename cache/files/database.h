// The part of sqlite that the cache uses, with failures as Status. The only header that the
// rest of the cache sees of it.
//
// Codes: kMalformedInput the file is damaged, no database, or has not the tables and rows that the statements
// need; kUnavailable somebody holds the lock; kResourceExhausted disk or memory is full; kIoError everything that
// the operating system refused; kInternal the rest.
// A Database is used by one thread at a time.
#ifndef HEARTH_CACHE_FILES_DATABASE_H_
#define HEARTH_CACHE_FILES_DATABASE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cache/files/wait_budget.h"
#include "core/base/error.h"
#include "hearth/status.h"

struct sqlite3;
struct sqlite3_blob;
struct sqlite3_stmt;

namespace hearth {

// What the file can hold, once Database::BoundByFileSize was called.
struct FileBound;

// One prepared statement. Parameters and columns are counted from 0. Arguments of Bind must live until the next Reset.
// Columns are valid until the next Step or Reset.
class Statement {
 public:
  Statement& Bind(int index, int64_t number);
  Statement& Bind(int index, double number);  // NaN: Step gives kInternal
  Statement& Bind(int index, std::string_view text);
  Statement& Bind(int index, std::span<const std::byte> blob);
  Statement& Bind(int index, std::span<const uint8_t> blob) { return Bind(index, std::as_bytes(blob)); }

  Result<bool> Step();  // true if there is a row; see BoundByFileSize
  // Calls `visit` at each row that is left.
  template <typename Visit>
  Status ForEachRow(const Visit& visit) {
    while (true) {
      HEARTH_ASSIGN(const bool row, Step());
      if (!row) return Status::Ok();
      visit();
    }
  }
  Status Run();                                                // steps to the end and resets
  void Abandon() { static_cast<void>(statement_.release()); }  // in a forked child: never touched again
  void Reset();  // also ends the read transaction that an unfinished statement keeps

  int64_t Number(int column) const;
  double Real(int column) const;
  std::string_view Text(int column) const;
  std::span<const std::byte> Blob(int column) const;

  // Counts bytes that are read elsewhere in the file because of the last row. False if the file can't hold that many in
  // all; the next Step then fails.
  [[nodiscard]] bool MayRead(uint64_t bytes);

 private:
  friend class Database;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, std::shared_ptr<FileBound> bound)
      : statement_(statement), bound_(std::move(bound)) {}
  void Note(int code);  // the result of a Bind, which Step returns
  uint64_t RowBytes() const;
  void CountAnew();
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  std::shared_ptr<FileBound> bound_;
  uint64_t read_bytes_ = 0;  // since the last Reset
  int bind_code_ = 0;
};

// An open blob; reading it costs one copy.
class BlobReader {
 public:
  uint64_t size_bytes() const;
  Status Read(std::span<std::byte> bytes);  // bytes.size() == size_bytes()
  // Reads a part that starts at `at` and must exist.
  Status ReadPiece(uint64_t at, std::span<std::byte> bytes);

 private:
  friend class Database;
  struct Closer {
    void operator()(sqlite3_blob* blob) const;
  };
  BlobReader(sqlite3* connection, sqlite3_blob* blob) : connection_(connection), blob_(blob) {}
  sqlite3* connection_;
  std::unique_ptr<sqlite3_blob, Closer> blob_;
};

// Resets a statement when the scope ends.
class StatementScope {
 public:
  explicit StatementScope(Statement& statement) : statement_(statement) {}
  ~StatementScope() { statement_.Reset(); }
  StatementScope(const StatementScope&) = delete;
  StatementScope& operator=(const StatementScope&) = delete;

 private:
  Statement& statement_;
};

class Database {
 public:
  enum class Access {
    kReadWrite,  // read-only if the file's mode says so
    kReadOnly,
    kImmutable,  // nobody writes: no locks, no side files, a leftover write-ahead log is not seen
  };

  // Whether this process was forked from one with open databases. sqlite then assumes locks that the child does not
  // have. So only kImmutable, which needs none, is safe; other modes are refused (kUnavailable).
  static bool IsForkedFromAUser();

  // Opens an existing file and reads nothing yet. Symbolic links anywhere in the path are refused.
  static Result<Database> Open(const std::filesystem::path& file, Access access);

  const std::filesystem::path& file() const { return file_; }
  bool read_only() const;
  void Abandon();          // in a forked child: never touched again
  bool has_moved() const;  // whether its name has another file now, or none
  // The budget for waiting for locks that others hold; without one, calls don't wait. It must outlive the database.
  void SetWaits(WaitBudget* waits);
  // Whether the last connection copies the write-ahead log into the file when it closes (two fsyncs; sqlite's default),
  // or leaves that to the next opener.
  void SetCheckpointAtClose(bool is_wanted);

  Status Run(const std::string& sql);  // any number of statements, no results
  // One statement with these values of its parameters, no results.
  template <typename... Values>
  Status RunWith(std::string_view sql, const Values&... values) {
    HEARTH_ASSIGN(Statement statement, Prepare(sql));
    int index = 0;
    (statement.Bind(index++, values), ...);
    return statement.Run();
  }
  Result<Statement> Prepare(std::string_view sql);
  Result<int64_t> Number(std::string_view sql);  // first column of the first row; 0 without rows
  Result<std::string> Text(std::string_view sql);

  // Has the system read this part of the file into its memory, in order; what the file does not have is left out.
  void ReadAhead(int64_t at, int64_t size_bytes);

  // Reads the whole file, every table and index. kMalformedInput with the first error.
  Status CheckStructure();

  // The longest blob or text that fits a row, with room for the rest of the row.
  uint64_t max_value_bytes() const;

  // Refuses longer values outside of transactions (kMalformedInput) before any memory is taken for them: a damaged page
  // can claim any length. OpenBlob is not bound by it.
  void SetLongestRead(uint64_t bytes);
  // Refuses statements that take more of sqlite's steps (kMalformedInput). count(*) of a whole table is one step
  // however long it takes: write count(column).
  void SetMostSteps(int steps);
  // From now on refuses statements that take more steps, or return more bytes, than a file of this size can need
  // (kMalformedInput). sqlite does not notice pages that several others lead to, and twenty levels of them make rows
  // without end.
  void BoundByFileSize();

  // Opens a blob, to read it straight into the caller's memory. kMalformedInput if there is none.
  Result<BlobReader> OpenBlob(const char* table, const char* column, int64_t row);

 private:
  struct Vfs;
  struct VfsRemover {
    void operator()(Vfs* vfs) const;
  };
  struct Closer {
    Closer() : is_counted(false) {}
    bool is_counted;  // in this process's number of open connections
    void operator()(sqlite3* connection) const;
  };
  Database(std::unique_ptr<Vfs, VfsRemover> vfs, sqlite3* connection);
  friend class Transaction;
  void SetStepsOfFile();
  int SetLengthLimit(int bytes) const;  // returns the one before; at most sqlite's own
  std::unique_ptr<Vfs, VfsRemover> vfs_;
  std::unique_ptr<sqlite3, Closer> connection_;
  std::shared_ptr<FileBound> bound_;
  std::filesystem::path file_;
};

// BEGIN IMMEDIATE at construction; ROLLBACK at the end of the scope unless Commit came first. None begins on a file
// that has lost its name, where nobody would find what is written, so each write to a store that others may use needs
// one. Within it values may be as long as max_value_bytes, to be written.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)), longest_before_(other.longest_before_) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  Transaction(Database* database, int longest_before) : database_(database), longest_before_(longest_before) {}
  void End();
  Database* database_;
  int longest_before_;  // SetLongestRead's limit
};

}  // namespace hearth

#endif  // HEARTH_CACHE_FILES_DATABASE_H_
