// A model's packed constants. Nodes, shapes and sessions that need the same packing share one copy.
#ifndef HEARTH_BACKENDS_CPU_HOST_SHARED_WEIGHTS_H_
#define HEARTH_BACKENDS_CPU_HOST_SHARED_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "core/graph/graph.h"

namespace hearth {

struct BlockScales;

// Identifies a packing: its type, the constants that it is made from, and everything else that decides its bytes.
class WeightsKey {
 public:
  explicit WeightsKey(std::string_view type) : material_(type) {}

  template <typename T>
  WeightsKey& Add(std::span<const T> numbers) {
    static_assert(std::is_arithmetic_v<T>);
    const uint64_t count = numbers.size();
    material_.append(reinterpret_cast<const char*>(&count), sizeof(count));
    material_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
    return *this;
  }
  WeightsKey& Add(int64_t number) { return Add(std::span<const int64_t>(&number, 1)); }
  // Adds a constant's bytes and description. Constants in the model's files are identified by their place there, others
  // by their content.
  WeightsKey& Add(const Graph& graph, ValueId constant);

  Fingerprint digest() const;

 private:
  WeightsKey& AddContent(std::span<const std::byte> bytes);
  WeightsKey& Add(const BlockScales& blocks);

  std::string material_;
};

// The packed constants of one model's files. Keeps nothing alive. Any thread.
class SharedWeights {
 public:
  // The one of all who ask with the same fingerprint, which identifies the files' content, in this process. A forked
  // child has its own: a lock may be held for ever there.
  static std::shared_ptr<SharedWeights> Of(const Fingerprint& files);

  struct Holding {
    std::shared_ptr<const void> weights;
    uint64_t bytes = 0;
  };
  Holding Find(const Fingerprint& key) const;
  // Adds `made`, unless another thread has added the same by now, which it returns then.
  Holding Add(const Fingerprint& key, std::shared_ptr<const void> made, uint64_t bytes);
  uint64_t LiveBytes() const;

 private:
  struct Entry {
    std::weak_ptr<const void> weights;
    uint64_t bytes = 0;
  };
  mutable std::mutex mutex_;
  std::map<Fingerprint, Entry> entries_;
};

// Numbers of a constant in another form or place than the model's.
template <typename Number>
struct SharedNumbers {
  std::vector<Number> values;
  uint64_t bytes() const { return values.size() * sizeof(Number); }
};

// Memory that is aligned for the longest vector, whose loads would touch two cache lines otherwise. Not zeroed. Throws
// std::bad_alloc.
std::shared_ptr<std::byte[]> VectorMemory(uint64_t bytes);

// The bytes that one program holds, and those among them that existed before.
struct SharedBytes {
  uint64_t all = 0, found = 0;
};

// The packed constants of one program's nodes. Used while nodes are made, by one thread.
class ProgramWeights {
 public:
  // `most_bytes`: about what its packings take together.
  ProgramWeights(SharedWeights& held, uint64_t most_bytes) : held_(held), left_bytes_(most_bytes) {}

  // VectorMemory for a packing. Packings of one program share large pages if they take much together.
  std::shared_ptr<std::byte[]> Allocate(uint64_t bytes);

  // The packing with this key, which `make` returns if nobody holds it. T has bytes().
  template <typename T, typename Make>
  std::shared_ptr<const T> FindOrMake(const WeightsKey& key, const Make& make) {
    return FindOrTry<T>(key, [&]() -> Result<T> { return make(); }).value();
  }
  // The same where `make` returns a Result.
  template <typename T, typename Make>
  Result<std::shared_ptr<const T>> FindOrTry(const WeightsKey& key, const Make& make) {
    const Fingerprint digest = key.digest();
    std::shared_ptr<const void> found = Noted(held_.Find(digest), true);
    if (found == nullptr) {
      HEARTH_ASSIGN(T made, make());
      const uint64_t bytes = made.bytes();
      found = Noted(held_.Add(digest, std::make_shared<const T>(std::move(made)), bytes), false);
    }
    return std::static_pointer_cast<const T>(found);
  }

  // Notes a constant whose form for a node is among the packings, which count it.
  void NoteShared(ValueId constant) { shared_.insert(constant); }
  const std::set<ValueId>& shared() const { return shared_; }

  // Notes that a node's runs read these bytes of a constant, and returns them.
  std::span<const std::byte> ReadInPlace(std::span<const std::byte> bytes);
  const std::vector<std::span<const std::byte>>& read_in_place() const { return read_in_place_; }

  // Call it when all nodes are made: releases packings that no node took.
  SharedBytes Finish();

 private:
  struct Use {
    SharedWeights::Holding holding;  // kept so that nodes that are made again find it
    bool was_found = false;
  };
  std::shared_ptr<const void> Noted(SharedWeights::Holding holding, bool was_found);

  SharedWeights& held_;
  std::shared_ptr<std::byte[]> block_;  // of large pages; the next packing goes to `next_`
  std::byte* next_ = nullptr;
  uint64_t left_bytes_;
  std::map<const void*, Use> uses_;
  std::set<ValueId> shared_;
  std::vector<std::span<const std::byte>> read_in_place_;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_HOST_SHARED_WEIGHTS_H_
