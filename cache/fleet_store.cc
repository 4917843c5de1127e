#include "cache/fleet_store.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <iterator>

#include "cache/key_value_blob_store.h"
#include "core/base/sha256.h"

namespace hearth {
namespace {

class SpentTime {
 public:
  explicit SpentTime(double& total_ms) : total_ms_(total_ms) {}
  ~SpentTime() {
    using Milliseconds = std::chrono::duration<double, std::milli>;
    total_ms_ += Milliseconds(std::chrono::steady_clock::now() - start_).count();
  }
  SpentTime(const SpentTime&) = delete;
  SpentTime& operator=(const SpentTime&) = delete;

 private:
  double& total_ms_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Whether an entry has this key.
auto IsOf(const CacheKey& key) {
  return [digest = key.digest()](const auto& entry) { return entry.key.digest() == digest; };
}

}  // namespace

bool FleetStore::MayAskServer() const {
  const bool may_wait = options_.waits == nullptr || options_.waits->left_ms() > 0;
  return may_wait && remote_->is_usable() && spent_ms_ < options_.budget_ms;
}

void FleetStore::Lose(double ms) {
  spent_ms_ += ms;
  if (options_.waits != nullptr) options_.waits->Spend(ms);
}

std::optional<FleetStore::Fetched> FleetStore::Fetch(const CacheKey& key) {
  const std::scoped_lock lock(mutex_);
  if (!MayAskServer()) return std::nullopt;
  std::optional<std::vector<std::byte>> value;
  double took_ms = 0;
  {
    const SpentTime time(took_ms);
    value = remote_->Read(NameInKeyValueStore(key));
  }
  TakeServersWarnings();
  if (!value || value->empty()) {
    Lose(took_ms);
    return std::nullopt;
  }
  Signature signature;
  std::optional<PublicKey> signer;
  std::span<const std::byte> envelope;
  if (value->size() > signature.size()) {
    std::memcpy(signature.data(), value->data(), signature.size());
    envelope = std::span<const std::byte>(*value).subspan(signature.size());
    if (auto found = SignerOf(envelope, signature, options_.trusted); found.ok()) signer = *found;
  }
  const std::optional<OpenedEnvelope> opened = signer ? OpenEnvelope(key, envelope) : std::nullopt;
  // The limit is for look-ups, which delay a start. Fetching an entry that is expensive to make may take longer.
  const bool is_worth_it = opened && opened->cost_ms > 0;
  Lose(is_worth_it ? std::max(0.0, took_ms - opened->cost_ms) : took_ms);
  if (!opened) {
    ++own_.rejected;
    warnings_.Add("value", "the cache server has entries that are damaged or that no trusted key has signed");
    return std::nullopt;
  }
  return Fetched{key, {opened->blob.begin(), opened->blob.end()}, opened->cost_ms, "server " + HexOf(*signer)};
}

bool FleetStore::Get(const CacheKey& key, const Destination& destination) {
  if (local_ != nullptr && local_->Get(key, destination)) return true;
  // An entry that crashed a process here is not fetched again.
  std::optional<Fetched> fetched = IsSuspect(key) ? std::nullopt : Fetch(key);
  const std::span<std::byte> bytes = fetched ? destination(fetched->bytes.size()) : std::span<std::byte>();
  const std::scoped_lock lock(mutex_);
  if (!fetched || bytes.size() != fetched->bytes.size()) {
    own_.misses += local_ == nullptr;
    return false;
  }
  std::copy(fetched->bytes.begin(), fetched->bytes.end(), bytes.begin());
  local_misses_served_ += local_ != nullptr;
  ++own_.hits;
  own_.bytes_read += bytes.size();
  own_.milliseconds_saved += fetched->cost_ms;
  received_.Note(key.digest(), FingerprintOf(fetched->bytes), fetched->origin);
  fetched_.push_back(*std::move(fetched));
  return true;
}

std::string FleetStore::NameOfContent(std::span<const std::byte> bytes, NameUse use) {
  {
    const std::scoped_lock lock(mutex_);
    if (MayAskServer()) use = NameUse::kPut;  // the server may have content that the local store lacks
  }
  return local_ == nullptr ? BlobStore::NameOfContent(bytes, use) : local_->NameOfContent(bytes, use);
}

void FleetStore::StoreFetched() {
  std::vector<Fetched> fetched;
  {
    const std::scoped_lock lock(mutex_);
    fetched.swap(fetched_);
  }
  std::vector<PutRequest> requests;
  requests.reserve(fetched.size());
  for (const Fetched& entry : fetched) requests.push_back({&entry.key, entry.bytes, entry.cost_ms, entry.origin});
  if (local_ != nullptr && !requests.empty()) local_->Put(requests);
}

void FleetStore::Send(const PutRequest& request) {
  const std::vector<std::byte> envelope = MakeEnvelope(request);
  const Result<Signature> signature = Sign(*options_.sign_with, envelope);
  if (!signature.ok()) {
    warnings_.Add("sign", signature.status().message());
    return;
  }
  std::vector<std::byte> value(signature->size() + envelope.size());
  std::memcpy(value.data(), signature->data(), signature->size());
  std::memcpy(value.data() + signature->size(), envelope.data(), envelope.size());
  double took_ms = 0;
  {
    const SpentTime time(took_ms);
    remote_->Write(NameInKeyValueStore(*request.key), value);
  }
  Lose(took_ms);
}

std::optional<std::string> FleetStore::OriginOf(const CacheKey& key, std::span<const std::byte> bytes) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto origin = received_.Find(key.digest(), FingerprintOf(bytes))) return std::string(*origin);
  }
  return OriginIn(local_.get(), key, bytes);
}

void FleetStore::Put(std::span<const PutRequest> wanted) {
  std::deque<std::string> origins;
  const std::vector<PutRequest> requests = WithOrigins(
      wanted, [this](const auto& key, auto bytes) { return OriginOf(key, bytes); }, origins);
  if (local_ != nullptr) local_->Put(requests);
  const std::scoped_lock lock(mutex_);
  // What was made here since is not replaced by what was fetched before.
  for (const PutRequest& request : requests) {
    if (request.origin.empty()) std::erase_if(fetched_, IsOf(*request.key));
  }
  if (!options_.sign_with) return;
  // Nobody waits for this, but an unresponsive server must not delay the end of a session.
  for (const PutRequest& request : requests) {
    if (request.origin.empty() && MayAskServer()) Send(request);
  }
  TakeServersWarnings();
}

void FleetStore::TakeServersWarnings() {
  if (!remote_->is_usable()) warnings_.Add("server", remote_->why_unusable());
  for (std::string& warning : remote_->TakeWarnings()) warnings_.Add(warning, warning);
}

void FleetStore::Reject(const CacheKey& key, std::string_view reason) {
  {
    const std::scoped_lock lock(mutex_);
    std::erase_if(fetched_, IsOf(key));
  }
  if (local_ != nullptr) local_->Reject(key, reason);
}

void FleetStore::BeginUse(const CacheKey& key) {
  if (local_ != nullptr) local_->BeginUse(key);
}
void FleetStore::EndUse(const CacheKey& key) {
  if (local_ != nullptr) local_->EndUse(key);
}
MakingTurn FleetStore::TakeMakingTurn(const CacheKey& key) {
  return local_ == nullptr ? MakingTurn() : local_->TakeMakingTurn(key);
}
void FleetStore::ReleaseWhenStored(std::unique_ptr<MakingClaim> claim) {
  if (local_ != nullptr) local_->ReleaseWhenStored(std::move(claim));
}
void FleetStore::BeginBatch() {
  if (local_ != nullptr) local_->BeginBatch();
}
void FleetStore::EndBatch() {
  if (local_ != nullptr) local_->EndBatch();
}
bool FleetStore::IsSuspect(const CacheKey& key) const {
  return local_ != nullptr && local_->IsSuspect(key);
}

void FleetStore::Flush() {
  StoreFetched();
  if (local_ != nullptr) local_->Flush();
}

StoreCounters FleetStore::counters() const {
  StoreCounters sum = local_ == nullptr ? StoreCounters() : local_->counters();
  const std::scoped_lock lock(mutex_);
  sum.hits += own_.hits;
  sum.misses += own_.misses;
  sum.misses -= std::min(sum.misses, local_misses_served_);
  sum.rejected += own_.rejected;
  sum.bytes_read += own_.bytes_read;
  sum.milliseconds_saved += own_.milliseconds_saved;
  return sum;
}

std::vector<std::string> FleetStore::TakeWarnings() {
  std::vector<std::string> warnings = local_ == nullptr ? std::vector<std::string>() : local_->TakeWarnings();
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> own = warnings_.Take();
  std::move(own.begin(), own.end(), std::back_inserter(warnings));
  return warnings;
}

}  // namespace hearth
