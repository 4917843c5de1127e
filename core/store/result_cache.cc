#include "core/store/result_cache.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/store/entry_links.h"

namespace hearth {
namespace {

// The most bytes that wait in memory for a transaction; the transaction's log grows by as much.
constexpr uint64_t kMaxPendingBytes = 48 << 20;

// At the session's end nobody waits for an answer. Waiting for others' locks is then cheaper than making again: of 24
// processes that ended at once and stored 10 MB each, on a busy disk, none waited longer than 0.8 s, and half of them
// stored nothing within the 250 ms of a session.
constexpr double kMostPatienceMs = 2000;

constexpr std::string_view kUnsignedOrigin = "bundle";  // as CacheEntry::origin

bool IsForked(pid_t opener) {
  return ::getpid() != opener;
}

bool HasToken(const CacheKey& key, std::string_view token) {
  const auto fields = DecodeKeyMaterial(key.material());
  return fields.ok() && ValueOf(*fields, kModelTokenField.name) == token;
}

}  // namespace

Result<std::vector<std::byte>> StoredEntry::Linked(const CacheKey& link) const {
  std::vector<std::byte> linked;
  FoundEntry found;
  const auto room = [&linked](uint64_t size_bytes) {
    linked.resize(size_bytes);
    return std::span<std::byte>(linked);
  };
  if (cache->Read(link, room, found)) return linked;
  return Error(StatusCode::kNotFound,
               "the cache lacks the {} entry {:.12} that it needs (evicted, removed, or in a layer that is not given "
               "now)",
               BlobKindName(link.kind()), link.digest().ToHex());
}

ResultCache::ResultCache(CacheParts parts) : parts_(std::move(parts)) {
  if (!parts_.now_ms) parts_.now_ms = [] { return 0.0; };
}

ResultCache::~ResultCache() {
  if (IsForked(opener_)) return;
  {
    const std::scoped_lock lock(mutex_);
    StorePending(When::kAtTheEnd);
  }
  Flush();
}

CacheKey ResultCache::WithToken(CacheKey key) const {
  if (!parts_.token.empty()) key.Add(kModelTokenField.name, parts_.token);
  return key;
}

// In the order in which they are asked. What crashed a process is not taken from elsewhere again. Tuning measured here
// is added to a layer's record of the same layer.
std::vector<EntrySource*> ResultCache::SourcesOf(const CacheKey& key, const Fingerprint& digest) {
  std::vector<EntrySource*> sources;
  const std::scoped_lock lock(mutex_);
  const auto add = [&](const std::unique_ptr<EntrySource>& source) {
    if (source == nullptr || !source->is_usable() || rejected_.contains({source.get(), digest})) return;
    sources.push_back(source.get());
  };
  const bool is_suspect = parts_.marks != nullptr && parts_.marks->IsSuspect(key);
  const bool is_own_first = key.kind() == BlobKind::kTuning;
  const bool may_use_own = parts_.marks == nullptr || !parts_.marks->IsHidden(key);
  if (may_use_own && is_own_first) add(parts_.own);
  if (!is_suspect) std::ranges::for_each(parts_.layers, add);
  if (may_use_own && !is_own_first) add(parts_.own);
  if (!is_suspect) add(parts_.server);
  return sources;
}

bool ResultCache::ReadPending(const Fingerprint& digest, const CacheKey& key,
                              const EntrySource::Destination& destination, FoundEntry& found) {
  const std::scoped_lock lock(mutex_);
  const auto pending = pending_.find(digest);
  if (pending == pending_.end() || pending->second.key.material() != key.material()) return false;
  const auto& [its_key, bytes, cost_ms, origin, checksum, is_fetched, is_sent] = pending->second;
  const std::span<std::byte> memory = destination(bytes.size());
  if (memory.size() != bytes.size()) return false;
  std::ranges::copy(bytes, memory.begin());
  found = {memory, checksum, cost_ms, origin};
  CountHit(nullptr, key, memory.size(), 0);
  return true;
}

bool ResultCache::Read(const CacheKey& key, const EntrySource::Destination& destination, FoundEntry& found,
                       Misses misses) {
  if (IsForked(opener_)) return false;
  const Fingerprint digest = key.digest();
  if (ReadPending(digest, key, destination, found)) return true;
  std::string why_rejected;
  for (EntrySource* source : SourcesOf(key, digest)) {
    const EntrySource::Answer answer = source->Get(key, destination, found);
    if (answer == EntrySource::Answer::kHit) {
      // A layer that nobody signed does not say that its entries are from elsewhere.
      if (source != parts_.own.get() && found.origin.empty()) found.origin = kUnsignedOrigin;
      NoteHit(*source, key, digest, found);
      return true;
    }
    if (answer == EntrySource::Answer::kMiss) continue;
    const std::scoped_lock lock(mutex_);
    ++counters_.rejected;
    if (source == parts_.own.get()) why_rejected = fmt::format("rejected: it {}", found.trouble);
    if (found.trouble.empty()) continue;
    warnings_.Add(found.trouble, fmt::format("a cached {} {} and is rebuilt", BlobKindName(key.kind()), found.trouble));
  }
  if (misses == Misses::kCounted || !why_rejected.empty()) NoteMiss(key, why_rejected);
  return false;
}

bool ResultCache::ReadInto(const CacheKey& key, std::span<std::byte> memory) {
  FoundEntry found;
  return Read(
      key, [&](uint64_t size_bytes) { return size_bytes == memory.size() ? memory : std::span<std::byte>(); }, found);
}

bool ResultCache::HasKey(const CacheKey& key) {
  if (IsForked(opener_)) return false;
  const Fingerprint digest = key.digest();
  {
    const std::scoped_lock lock(mutex_);
    if (pending_.contains(digest)) return true;
  }
  return std::ranges::any_of(SourcesOf(key, digest), [&](EntrySource* source) { return source->Has(key); });
}

void ResultCache::NoteHit(EntrySource& source, const CacheKey& key, const Fingerprint& digest,
                          const FoundEntry& found) {
  const std::scoped_lock lock(mutex_);
  // A list saves what the binaries that it leads to save.
  CountHit(&source, key, found.bytes.size(), key.kind() == BlobKind::kProgramList ? 0 : found.cost_ms);
  origins_.try_emplace({digest, found.checksum}, found.origin);
  if (&source == parts_.own.get()) {
    served_by_.erase(digest);
  } else {
    served_by_[digest] = &source;
  }
  if (&source == parts_.server.get() && parts_.own != nullptr && !parts_.is_read_only) {
    Keep({key, {found.bytes.begin(), found.bytes.end()}, found.cost_ms, found.origin, found.checksum, true, true});
  }
}

void ResultCache::CountHit(const EntrySource* source, const CacheKey& key, uint64_t size_bytes, double saved_ms) {
  ++counters_.hits;
  counters_.bytes_read += size_bytes;
  counters_.milliseconds_saved += saved_ms;
  if (source != nullptr && source != parts_.own.get()) {
    const bool is_server = source == parts_.server.get();
    ++(is_server ? counters_.server_hits : counters_.layer_hits);
    (is_server ? counters_.server_milliseconds_saved : counters_.layer_milliseconds_saved) += saved_ms;
  }
  Tell(CacheEvent::What::kHit, key, size_bytes);
}

void ResultCache::NoteMiss(const CacheKey& key, std::string reason) {
  if (IsForked(opener_)) return;
  const bool is_rejected = !reason.empty();
  if (!is_rejected && parts_.marks != nullptr && parts_.marks->IsHidden(key))
    reason = "in quarantine: an earlier run died while it used it";
  if (parts_.log != nullptr) parts_.log->Miss(key, reason);
  const std::scoped_lock lock(mutex_);
  if (!is_rejected) ++counters_.misses;
  Tell(CacheEvent::What::kMiss, key, 0);
}

void ResultCache::VisitByKey(const CacheKey& common, const StatusVisitor& visit) {
  if (IsForked(opener_)) return;
  struct Visited {
    CacheKey key;
    std::vector<std::byte> bytes;
    double cost_ms = 0;
    bool is_made_here = true;
    const EntrySource* source = nullptr;
  };
  std::vector<Visited> all;
  const auto visit_source = [&](EntrySource& source, bool is_own) {
    source.ForEach(common, [&](const CacheKey& key, const FoundEntry& entry) {
      const Fingerprint digest = key.digest();
      if (!HasToken(key, parts_.token) || (parts_.marks != nullptr && !is_own && parts_.marks->IsSuspect(key))) return;
      const std::scoped_lock lock(mutex_);
      if (rejected_.contains({&source, digest}) || (is_own && pending_.contains(digest))) return;
      const bool is_made_here = is_own && entry.origin.empty();
      const std::string_view origin = !is_own && entry.origin.empty() ? kUnsignedOrigin : entry.origin;
      origins_.try_emplace({digest, entry.checksum}, origin);
      if (!is_own) served_by_[digest] = &source;
      all.push_back({key, {entry.bytes.begin(), entry.bytes.end()}, entry.cost_ms, is_made_here, &source});
    });
  };
  for (const std::unique_ptr<EntrySource>& layer : parts_.layers) visit_source(*layer, false);
  if (parts_.own != nullptr) visit_source(*parts_.own, true);
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [digest, entry] : pending_) {
      const bool is_its = entry.key.kind() == common.kind() && entry.key.material().starts_with(common.material());
      if (is_its && HasToken(entry.key, parts_.token))
        all.push_back({entry.key, entry.bytes, entry.cost_ms, entry.origin.empty()});
    }
    for (const Visited& entry : all) CountHit(entry.source, entry.key, entry.bytes.size(), 0);
  }
  for (const Visited& entry : all) {
    const Status status = visit(StoredEntry{entry.key, entry.bytes, entry.cost_ms, entry.is_made_here, this});
    if (!status.ok()) RejectOne(entry.key, status.message());
  }
}

void ResultCache::PutByKey(const CacheKey& key, std::span<const std::byte> bytes, double cost_ms,
                           std::string_view origin) {
  if (parts_.is_read_only || IsForked(opener_)) return;
  const Fingerprint digest = key.digest(), checksum = FingerprintOf(bytes);
  const std::scoped_lock lock(mutex_);
  const std::string_view its_origin = origin.empty() ? KnownOrigin(digest, checksum) : origin;
  Keep({key, {bytes.begin(), bytes.end()}, BoundedCostMs(cost_ms), std::string(its_origin), checksum});
  if (pending_bytes_ > kMaxPendingBytes) StorePending(When::kNow);
}

// What this session read keeps its origin, also if a revocation has deleted the entry since: revocations must find it,
// and nobody may sign what others have signed. The same bytes made anew are made here.
std::string_view ResultCache::KnownOrigin(const Fingerprint& digest, const Fingerprint& checksum) const {
  const auto found = origins_.find({digest, checksum});
  return found == origins_.end() ? std::string_view() : std::string_view(found->second);
}

void ResultCache::Keep(Pending entry) {
  const Fingerprint digest = entry.key.digest();
  pending_bytes_ += entry.bytes.size();
  const auto place = pending_.find(digest);
  if (place == pending_.end()) {
    pending_.emplace(digest, std::move(entry));
    return;
  }
  pending_bytes_ -= place->second.bytes.size();
  place->second = std::move(entry);
}

// A program without an origin gets that of its SPIR-V: whoever made that decides what the program does.
void ResultCache::PassOnOrigins() {
  for (auto& [digest, entry] : pending_) {
    const auto source = entry.origin.empty() ? NeededBy(entry.key, entry.bytes) : std::nullopt;
    const auto place = source ? pending_.find(source->digest()) : pending_.end();
    if (place != pending_.end()) entry.origin = place->second.origin;
  }
}

void ResultCache::StorePending(When when) {
  PassOnOrigins();
  double patience_ms = 0;
  std::vector<NewEntry> entries;
  for (const auto& [digest, entry] : pending_) {
    if (entry.is_fetched && when == When::kNow) continue;
    if (when == When::kAtTheEnd) patience_ms = std::min(patience_ms + entry.cost_ms, kMostPatienceMs);
    if (entry.origin.empty() && parts_.log != nullptr) parts_.log->Make(entry.key);
    entries.push_back({&entry.key, entry.bytes, entry.cost_ms, entry.origin, digest, entry.checksum});
  }
  if (entries.empty()) return held_claims_.clear();
  std::vector<PutResult> results(entries.size(), PutResult::kFailed);
  const bool is_done = parts_.own == nullptr || parts_.own->Put(entries, results, patience_ms);
  SendPending();
  if (!is_done && pending_bytes_ <= kMaxPendingBytes) return;
  for (size_t k = 0; k < entries.size(); ++k) {
    const auto place = pending_.find(entries[k].digest);
    NoteResult(place->second, entries[k].digest, results[k]);
    pending_bytes_ -= place->second.bytes.size();
    pending_.erase(place);
  }
  held_claims_.clear();
}

void ResultCache::NoteResult(const Pending& entry, const Fingerprint& digest, PutResult result) {
  if (parts_.own == nullptr && entry.is_sent) return;
  if (result == PutResult::kFailed || result == PutResult::kRevoked) ++counters_.put_errors;
  if (result != PutResult::kStored && result != PutResult::kPresent) return;
  if (result == PutResult::kStored) counters_.bytes_written += entry.bytes.size();
  rejected_.erase({parts_.own.get(), digest});
  served_by_.erase(digest);
  Tell(CacheEvent::What::kStored, entry.key, entry.bytes.size());
}

// Nobody waits for this, but an unresponsive server must not delay the end of a session. What came from elsewhere is
// not sent: signed here, it would be taken by machines that do not trust its maker.
void ResultCache::SendPending() {
  if (parts_.server == nullptr) return;
  std::vector<NewEntry> entries;
  for (auto& [digest, entry] : pending_) {
    if (std::exchange(entry.is_sent, true) || !entry.origin.empty()) continue;
    entries.push_back({&entry.key, entry.bytes, entry.cost_ms, entry.origin, digest, entry.checksum});
  }
  std::vector<PutResult> results(entries.size());
  if (!entries.empty()) parts_.server->Put(entries, results, 0);
}

void ResultCache::RejectOne(const CacheKey& key, std::string_view reason) {
  if (IsForked(opener_)) return;
  const Fingerprint digest = key.digest();
  if (parts_.log != nullptr) parts_.log->Miss(key, fmt::format("rejected: {}", reason));
  EntrySource* source = parts_.own.get();
  {
    const std::scoped_lock lock(mutex_);
    ++counters_.rejected;
    warnings_.Add("reject",
                  fmt::format("a cached {} could not be used and is rebuilt: {}", BlobKindName(key.kind()), reason));
    if (const auto pending = pending_.find(digest); pending != pending_.end()) {
      pending_bytes_ -= pending->second.bytes.size();
      pending_.erase(pending);
    }
    if (const auto other = served_by_.find(digest); other != served_by_.end()) source = other->second;
    rejected_.insert({source, digest});
    Tell(CacheEvent::What::kRejected, key, 0);
  }
  if (source != nullptr && !parts_.is_read_only) source->Remove(key);
}

void ResultCache::BeginUse(const CacheKey& key) {
  if (parts_.marks != nullptr && IsReadByDriver(key.kind())) parts_.marks->BeginUse(key);
}

void ResultCache::EndUse(const CacheKey& key) {
  if (parts_.marks != nullptr && IsReadByDriver(key.kind())) parts_.marks->EndUse(key);
}

MakingTurn ResultCache::TakeTurn(const CacheKey& key) {
  if (parts_.claims == nullptr || parts_.is_read_only || key.kind() != BlobKind::kProgram) return {};
  return parts_.claims->Take(key);
}

void ResultCache::ReleaseWhenStored(std::unique_ptr<MakingClaim> claim) {
  if (IsForked(opener_)) return;
  const std::scoped_lock lock(mutex_);
  const bool waits = std::ranges::any_of(pending_, [](const auto& entry) { return !entry.second.is_fetched; });
  if (claim != nullptr && waits) held_claims_.push_back(std::move(claim));
}

void ResultCache::Flush() {
  if (IsForked(opener_)) return;
  const std::scoped_lock lock(mutex_);
  StorePending(When::kWithFetched);
  if (parts_.log != nullptr && !parts_.is_read_only) parts_.log->Write(counters_);
}

StoreCounters ResultCache::counters() const {
  if (IsForked(opener_)) return {};
  const std::scoped_lock lock(mutex_);
  return counters_;
}

std::vector<std::string> ResultCache::TakeWarnings() {
  if (IsForked(opener_)) {
    if (has_told_child_.exchange(true)) return {};
    return {"this process was forked from the one that opened the cache: it goes on without the cache"};
  }
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> warnings = warnings_.Take();
  const auto take = [&](const std::unique_ptr<EntrySource>& source) {
    if (source == nullptr) return;
    std::vector<std::string> taken = source->TakeWarnings();
    std::ranges::move(taken, std::back_inserter(warnings));
  };
  for (const auto& layer : parts_.layers) take(layer);
  take(parts_.own);
  take(parts_.server);
  return warnings;
}

void ResultCache::Tell(CacheEvent::What what, const CacheKey& key, uint64_t size_bytes) {
  if (!parts_.observer) return;
  CacheEvent event{what, std::string(BlobKindName(key.kind())), key.digest().ToHex(), size_bytes, {}};
  if (auto fields = DecodeKeyMaterial(key.material()); fields.ok()) event.fields = std::move(fields).value();
  parts_.observer(event);
}

PutBatch::PutBatch(ResultCache* cache) : cache_(cache) {
  if (cache_ == nullptr || IsForked(cache_->opener_)) return;
  const std::scoped_lock lock(cache_->mutex_);
  ++cache_->open_batches_;
}

PutBatch::~PutBatch() {
  if (cache_ == nullptr || IsForked(cache_->opener_)) return;
  const std::scoped_lock lock(cache_->mutex_);
  if (--cache_->open_batches_ == 0) cache_->StorePending(ResultCache::When::kNow);
}

}  // namespace hearth
