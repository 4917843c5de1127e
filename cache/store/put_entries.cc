#include "cache/store/put_entries.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "cache/files/store_names.h"
#include "cache/store/budget.h"
#include "cache/store/entry_row.h"
#include "cache/store/quarantine.h"
#include "cache/store/removal.h"
#include "core/base/text.h"
#include "core/store/entry_links.h"

namespace hearth {
namespace {

struct Sums {
  double cost_ms = 0, bytes = 0;
};

class Insertion {
 public:
  Insertion(Database& database, std::span<const NewEntry> entries, const Admission& admission, PutOutcome& outcome)
      : database_(database), entries_(entries), admission_(admission), outcome_(outcome) {
    outcome_ = {};
    outcome_.results.resize(entries.size(), PutResult::kFailed);
    for (const NewEntry& entry : entries) needs_.push_back(NeedOf(entry));
    for (const auto& need : needs_) {
      // A delta brings programs whose sources came with another bundle: these make no room for what needs them.
      if (need) needed_.insert(*need);
    }
  }

  Status Run() {
    left_ = MostWorthFirst(entries_);
    HEARTH_TRY(RefuseRevoked());
    HEARTH_TRY(LeaveOutWhatIsThere());
    for (const size_t k : left_) HEARTH_TRY(DeleteEntry(database_, entries_[k].digest));
    HEARTH_ASSIGN(const bool has_room_for_all, MakeRoomFor(left_));
    for (const size_t k : left_) HEARTH_TRY(InsertOne(k, has_room_for_all));
    return DeleteProgramsOfEvictedSources();
  }

 private:
  bool IsKept(const Fingerprint& digest) const {
    return admission_.is_in_use(digest) || needed_.contains(digest) || outcome_.present.contains(digest);
  }

  // Within the transaction that stores the entries: a revocation either deletes them afterwards, or is seen here.
  Status RefuseRevoked() {
    const auto is_signed = [](const NewEntry& entry) { return !SignerIn(entry.origin).empty(); };
    if (std::ranges::none_of(entries_, is_signed)) return Status::Ok();
    HEARTH_ASSIGN(const KnownRevocations now, ReadRevocations(database_));
    outcome_.knows_revocations = now.lineage == admission_.revocations.lineage;
    std::erase_if(left_, [&](size_t k) {
      const NewEntry& entry = entries_[k];
      const bool is_revoked =
          outcome_.knows_revocations ? IsRevokedSince(admission_.revocations, now, entry.origin) : is_signed(entry);
      if (is_revoked) Refuse(k, PutResult::kRevoked);
      return is_revoked;
    });
    return Status::Ok();
  }

  // Sessions put sources again that they loaded. Where the bytes are the same, the entry stays as it is, with its
  // origin: writing all of them after each update of a driver would be for nothing. Only a signer that is accepted now
  // takes over what another bundle or server brought: else revoking the earlier signer would delete the source of
  // programs that the later one has signed. What was made here stays so, and unsigned bytes take nothing over, since a
  // revocation must still find the signer.
  Status LeaveOutWhatIsThere() {
    HEARTH_ASSIGN(Statement row,
                  database_.Prepare("UPDATE entries SET cost_ms=max(cost_ms, ?1), last_used_ms=?2, origin=CASE WHEN"
                                    " origin='' OR ?7='' THEN origin ELSE ?7 END WHERE"
                                    " digest=?3 AND kind=?4 AND material=?5 AND checksum=?6 RETURNING id"));
    std::vector<size_t> others;
    for (const size_t k : left_) {
      const NewEntry& entry = entries_[k];
      bool is_there = entry.key->kind() == BlobKind::kSource;
      if (is_there) {
        row.Bind(0, entry.cost_ms).Bind(1, NowMs()).Bind(2, entry.digest.bytes);
        row.Bind(3, BlobKindName(entry.key->kind())).Bind(4, BytesOf(entry.key->material()));
        row.Bind(5, entry.checksum.bytes).Bind(6, SignerIn(entry.origin).empty() ? "" : entry.origin);
        HEARTH_ASSIGN(is_there, row.Step());
        if (is_there) HEARTH_TRY(row.Run());
        row.Reset();
      }
      if (is_there) Accept(k, PutResult::kPresent);
      if (!is_there) others.push_back(k);
    }
    left_ = std::move(others);
    return Status::Ok();
  }

  Result<bool> MakeRoomFor(std::span<const size_t> some) {
    HEARTH_ASSIGN(const int64_t page_bytes, database_.Number("PRAGMA page_size"));
    uint64_t needed_bytes = 0;
    for (const size_t k : some) {
      const NewEntry& entry = entries_[k];
      needed_bytes += EntryBytes(entry.bytes.size(), entry.key->material().size(), static_cast<uint64_t>(page_bytes));
    }
    const auto limit = [&] {
      return admission_.max_bytes - std::min(admission_.max_bytes, BytesWithLog(admission_.damaged));
    };
    if (limit() < admission_.max_bytes) {
      HEARTH_ASSIGN(const uint64_t used_bytes, UsedBytes(database_));
      if (used_bytes + needed_bytes > limit()) RemoveWithSideFiles(admission_.damaged);
    }
    return MakeRoom(
        database_, needed_bytes, limit(), [&](const Fingerprint& digest) { return IsKept(digest); }, evicted_sources_);
  }

  // What a refused source keeps out with it would be rejected at each start.
  Status InsertOne(size_t k, bool has_room) {
    const NewEntry& entry = entries_[k];
    const auto cause = needs_[k] ? refused_.find(*needs_[k]) : refused_.end();
    if (cause != refused_.end()) {
      Refuse(k, PutResult(cause->second));
      return Status::Ok();
    }
    if (!has_room) {
      HEARTH_ASSIGN(has_room, MakeRoomFor({&k, 1}));
    }
    if (!has_room) {
      outcome_.has_lacked_room = true;
      Refuse(k, PutResult::kFailed);
      return Status::Ok();
    }
    HEARTH_ASSIGN(const bool is_barred, IsBarred(database_, entry.digest, entry.checksum));
    if (is_barred) {
      Refuse(k, PutResult::kBarred);
      return Status::Ok();
    }
    // If a key occurs twice, the later entry counts.
    if (outcome_.present.contains(entry.digest)) HEARTH_TRY(DeleteEntry(database_, entry.digest));
    HEARTH_TRY(InsertEntry(database_, entry, needs_[k]));
    Accept(k, PutResult::kStored);
    return Status::Ok();
  }

  Status DeleteProgramsOfEvictedSources() {
    HEARTH_ASSIGN(
        const std::vector<int64_t> programs,
        ProgramsThatNeed(database_, evicted_sources_, [&](const Fingerprint& digest) { return IsKept(digest); }));
    for (const int64_t id : programs) HEARTH_TRY(DeleteEntry(database_, id));
    return Status::Ok();
  }

  void Accept(size_t k, PutResult result) {
    outcome_.results[k] = result;
    outcome_.present.insert(entries_[k].digest);
  }
  void Refuse(size_t k, PutResult result) {
    outcome_.results[k] = result;
    refused_.insert_or_assign(entries_[k].digest, result);
  }

  Database& database_;
  const std::span<const NewEntry> entries_;
  const Admission& admission_;
  PutOutcome& outcome_;
  std::vector<std::optional<Fingerprint>> needs_;  // by entry
  std::set<Fingerprint> needed_;
  std::vector<size_t> left_;  // in the order in which they get room
  std::map<Fingerprint, PutResult> refused_;
  std::set<Fingerprint> evicted_sources_;
};

}  // namespace

std::optional<Fingerprint> NeedOf(const NewEntry& entry) {
  const std::optional<CacheKey> needed = NeededBy(*entry.key, entry.bytes);
  return needed ? std::optional(needed->digest()) : std::nullopt;
}

std::vector<size_t> MostWorthFirst(std::span<const NewEntry> entries) {
  std::vector<std::optional<Fingerprint>> needs;
  std::map<Fingerprint, Sums> sums;  // under the digest of the needed entry where there is one
  for (const NewEntry& entry : entries) {
    needs.push_back(NeedOf(entry));
    Sums& sum = sums[needs.back().value_or(entry.digest)];
    sum.cost_ms += std::max(BoundedCostMs(entry.cost_ms), kLeastCostMs);
    sum.bytes += static_cast<double>(entry.bytes.size()) + kRowBytes;
  }
  std::vector<std::pair<double, bool>> ranks;  // less comes first
  for (size_t k = 0; k < entries.size(); ++k) {
    const Sums& sum = sums.at(needs[k].value_or(entries[k].digest));
    ranks.emplace_back(-sum.cost_ms / sum.bytes, needs[k].has_value());
  }
  std::vector<size_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return ranks[a] < ranks[b]; });
  return order;
}

Status PutEntries(Database& database, std::span<const NewEntry> entries, const Admission& admission,
                  PutOutcome& outcome) {
  return Insertion(database, entries, admission, outcome).Run();
}

}  // namespace hearth
