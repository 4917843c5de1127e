#include "cache/entry_row.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace hearth {

int64_t TimeMs(const timespec& time) {
  constexpr int64_t kMostSeconds = kMostTimeMs / 1000;
  return std::clamp(int64_t{time.tv_sec}, -kMostSeconds, kMostSeconds - 1) * 1000 + time.tv_nsec / 1'000'000;
}

// std::chrono::system_clock counts nanoseconds, whose 64 bits overflow in 2262.
int64_t NowMs() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return TimeMs(now);
}

Fingerprint FingerprintFrom(std::span<const std::byte> bytes) {
  Fingerprint fingerprint;
  if (bytes.size() == fingerprint.bytes.size()) std::memcpy(fingerprint.bytes.data(), bytes.data(), bytes.size());
  return fingerprint;
}

uint64_t SizeFrom(const Statement& row, int column) {
  return static_cast<uint64_t>(std::max<int64_t>(0, row.Number(column)));
}

void AddSize(uint64_t& sum, uint64_t size_bytes) {
  sum += std::min(size_bytes, UINT64_MAX - sum);
}

double BoundedCostMs(double cost_ms) {
  return std::isfinite(cost_ms) ? std::clamp(cost_ms, 0.0, kMostCostMs) : 0;
}

Status DeleteEntry(Database& database, int64_t id) {
  for (const char* sql : {"DELETE FROM blobs WHERE id=?", "DELETE FROM entries WHERE id=?"}) {
    HEARTH_ASSIGN(Statement statement, database.Prepare(sql));
    HEARTH_TRY(statement.Bind(0, id).Run());
  }
  return Status::Ok();
}

Status DeleteEntry(Database& database, const Fingerprint& digest) {
  for (const char* sql :
       {"DELETE FROM blobs WHERE id=(SELECT id FROM entries WHERE digest=?)", "DELETE FROM entries WHERE digest=?"}) {
    HEARTH_ASSIGN(Statement statement, database.Prepare(sql));
    HEARTH_TRY(statement.Bind(0, digest.bytes).Run());
  }
  return Status::Ok();
}

}  // namespace hearth
