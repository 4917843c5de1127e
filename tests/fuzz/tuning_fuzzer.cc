// A tuning record from the cache, a bundle or a server.

#include "core/plan/tuning.h"
#include "tests/fuzz/fuzzer.h"

namespace hearth {

void FuzzOne(std::span<const std::byte> bytes) {
  const Result<TuningRecord> record = TuningRecordFromText({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!record.ok()) return;
  Expect(TuningRecordFromText(ToText(*record)).ok(), "a record that was read can be written and read again");
  const TuningRecord both = Merged(*record, *record);
  Expect(TuningRecordFromText(ToText(both)).ok(), "records that are merged can be written and read again");
  static_cast<void>(both.Best());
}

}  // namespace hearth
