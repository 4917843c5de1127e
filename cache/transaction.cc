#include <climits>

#include "cache/database.h"

namespace hearth {

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
