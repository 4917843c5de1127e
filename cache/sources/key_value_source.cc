#include "cache/sources/key_value_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cache/trust/envelope.h"
#include "core/base/sha256.h"

namespace hearth {
namespace {

class Clock {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Copies the envelope's blob to its destination.
EntrySource::Answer Take(const std::optional<OpenedEnvelope>& opened, const EntrySource::Destination& destination,
                         std::string origin, FoundEntry& found) {
  found.trouble = "was damaged";
  if (!opened) return EntrySource::Answer::kDamaged;
  const std::span<std::byte> bytes = destination(opened->blob.size());
  if (bytes.size() != opened->blob.size()) return EntrySource::Answer::kDamaged;
  std::ranges::copy(opened->blob, bytes.begin());
  found = {bytes, opened->checksum, opened->cost_ms, std::move(origin)};
  return EntrySource::Answer::kHit;
}

}  // namespace

EntrySource::Answer KeyValueSource::Get(const CacheKey& key, const Destination& destination, FoundEntry& found) {
  const std::optional<std::vector<std::byte>> value = values_.Read(NameInKeyValueStore(key));
  if (!value || value->empty()) return Answer::kMiss;
  const Answer answer = Take(OpenEnvelope(key, *value), destination, "store", found);
  if (answer == Answer::kHit) return answer;
  const std::scoped_lock lock(mutex_);
  warnings_.Add("damaged", fmt::format("the store given for the cache returned a damaged {}, which is rebuilt",
                                       BlobKindName(key.kind())));
  return answer;
}

bool KeyValueSource::Put(std::span<const NewEntry> entries, std::span<PutResult> results, double /*patience_ms*/) {
  for (size_t k = 0; k < entries.size(); ++k) {
    const bool is_kept = values_.Write(NameInKeyValueStore(*entries[k].key), MakeEnvelope(entries[k]));
    results[k] = is_kept ? PutResult::kStored : PutResult::kFailed;
    if (is_kept) continue;
    const std::scoped_lock lock(mutex_);
    warnings_.Add("writing", "the store given for the cache did not accept an entry");
  }
  return true;
}

bool KeyValueSource::Has(const CacheKey& key) {
  const std::optional<std::vector<std::byte>> value = values_.Read(NameInKeyValueStore(key));
  return value && !value->empty();
}

void KeyValueSource::Remove(const CacheKey& key) {
  values_.Write(NameInKeyValueStore(key), {});
}

std::vector<std::string> KeyValueSource::TakeWarnings() {
  const std::scoped_lock lock(mutex_);
  if (const std::string why = values_.why_unusable(); !why.empty()) warnings_.Add("unusable", why);
  for (std::string& warning : values_.TakeWarnings()) warnings_.Add(warning, warning);
  return warnings_.Take();
}

bool ServerSource::MayAsk() const {
  const bool may_wait = options_.waits == nullptr || options_.waits->left_ms() > 0;
  return may_wait && remote_->why_unusable().empty() && lost_ms_ < options_.budget_ms;
}

bool ServerSource::is_usable() const {
  const std::scoped_lock lock(mutex_);
  return MayAsk();
}

void ServerSource::Lose(double ms) {
  lost_ms_ += ms;
  if (options_.waits != nullptr) options_.waits->Spend(ms);
}

EntrySource::Answer ServerSource::Get(const CacheKey& key, const Destination& destination, FoundEntry& found) {
  const std::scoped_lock lock(mutex_);
  if (!MayAsk()) return Answer::kMiss;
  const Clock clock;
  const std::optional<std::vector<std::byte>> value = remote_->Read(NameInKeyValueStore(key));
  const double took_ms = clock.milliseconds();
  TakeServersWarnings();
  if (!value || value->empty()) {
    Lose(took_ms);
    return Answer::kMiss;
  }
  const std::optional<UnsealedEnvelope> unsealed = Unseal(*value, options_.trusted);
  const std::optional<OpenedEnvelope> opened = unsealed ? OpenEnvelope(key, unsealed->envelope) : std::nullopt;
  // The limit is for look-ups, which delay a start. Fetching an entry that is expensive to make may take longer.
  Lose(opened ? std::max(0.0, took_ms - opened->cost_ms) : took_ms);
  if (opened) return Take(opened, destination, "server " + HexOf(unsealed->signer), found);
  warnings_.Add("value", "the cache server has entries that are damaged or that no trusted key has signed");
  found.trouble = {};
  return Answer::kDamaged;
}

bool ServerSource::Send(const NewEntry& entry) {
  const Result<std::vector<std::byte>> sealed = Seal(*options_.sign_with, MakeEnvelope(entry));
  if (!sealed.ok()) {
    warnings_.Add("sign", sealed.status().message());
    return false;
  }
  const Clock clock;
  const bool is_kept = remote_->Write(NameInKeyValueStore(*entry.key), *sealed);
  Lose(clock.milliseconds());
  return is_kept;
}

bool ServerSource::Put(std::span<const NewEntry> entries, std::span<PutResult> results, double /*patience_ms*/) {
  std::ranges::fill(results, PutResult::kFailed);
  if (!options_.sign_with) return true;
  const std::scoped_lock lock(mutex_);
  for (size_t k = 0; k < entries.size(); ++k) {
    if (MayAsk() && Send(entries[k])) results[k] = PutResult::kStored;
  }
  TakeServersWarnings();
  return true;
}

void ServerSource::TakeServersWarnings() {
  if (const std::string why = remote_->why_unusable(); !why.empty()) warnings_.Add("server", why);
  for (std::string& warning : remote_->TakeWarnings()) warnings_.Add(warning, warning);
}

std::vector<std::string> ServerSource::TakeWarnings() {
  const std::scoped_lock lock(mutex_);
  return warnings_.Take();
}

}  // namespace hearth
