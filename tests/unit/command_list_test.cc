#include "hal/device/command_list.h"

#include <gtest/gtest.h>

#include <random>

#include "backends/null/device.h"

namespace hearth {
namespace {

// Three buffers of 1024 bytes on a null device, which refuses racing lists, and a program per pattern of writes.
class CommandListTest : public ::testing::Test {
 protected:
  CommandListTest() : device_(NullDeviceInfo()) {
    for (auto& buffer : buffers_) buffer = std::move(device_.CreateBuffer(1024)).value();
  }

  BoundRange Part(int buffer, uint64_t offset_bytes, uint64_t size_bytes) {
    return {buffers_[buffer].get(), offset_bytes, size_bytes};
  }
  BoundRange All(int buffer) { return Part(buffer, 0, 1024); }

  DispatchCommand Dispatch(std::vector<BoundRange> tensors, const std::vector<bool>& writes) {
    KernelSource source;
    source.name = "touch";
    for (size_t k = 0; k < writes.size(); ++k) {
      source.tensors.push_back(
          {.name = "t" + std::to_string(k), .direction = writes[k] ? ArgDirection::kWrite : ArgDirection::kRead});
    }
    groups_.push_back(std::move(device_.Compile({&source, 1})).value());
    return {groups_.back()->programs()[0].get(), std::move(tensors), {}, {1, 1, 1}, "touch"};
  }

  // Reads the first and writes the second, the first through texels.
  void RecordTexelRead(BoundRange from, BoundRange to) {
    DispatchCommand dispatch = Dispatch({from, to}, {false, true});
    KernelSource source = dispatch.program->source();
    source.tensors[0].path = AccessPath::kTexelBuffer;
    groups_.push_back(std::move(device_.Compile({&source, 1})).value());
    dispatch.program = groups_.back()->programs()[0].get();
    recorder_.Record(std::move(dispatch), {false, true});
  }

  void Record(std::vector<BoundRange> tensors, const std::vector<bool>& writes) {
    recorder_.Record(Dispatch(std::move(tensors), writes), writes);
  }

  static std::string Pattern(const CommandList& list) {  // "DD|D": dispatches and barriers
    std::string pattern;
    for (const Command& command : list.commands) pattern += std::holds_alternative<BarrierCommand>(command) ? '|' : 'D';
    return pattern;
  }

  NullDevice device_;
  std::array<std::unique_ptr<Buffer>, 3> buffers_;
  std::vector<std::unique_ptr<ProgramGroup>> groups_;
  CommandRecorder recorder_;
};

TEST_F(CommandListTest, AReadAfterAWriteWaits) {
  Record({All(0), All(1)}, {false, true});
  Record({All(1), All(2)}, {false, true});
  EXPECT_EQ(Pattern(recorder_.Finish()), "D|D");
}

// See core/plan/storage.h: a view of 256 bytes has none of room behind it, one of 64 has.
TEST_F(CommandListTest, AWriteBehindARangeThatIsReadThroughTexelsWaitsWhereTheViewIsLonger) {
  RecordTexelRead(Part(0, 0, 64), All(1));
  Record({All(2), Part(0, 256, 64)}, {false, true});
  EXPECT_EQ(Pattern(recorder_.Finish()), "D|D");
  RecordTexelRead(Part(0, 0, 256), All(1));
  Record({All(2), Part(0, 256, 64)}, {false, true});
  EXPECT_EQ(Pattern(recorder_.Finish()), "DD");
}

TEST_F(CommandListTest, AWriteAfterAReadWaits) {
  Record({All(0), All(1)}, {false, true});
  Record({All(2), All(0)}, {false, true});
  EXPECT_EQ(Pattern(recorder_.Finish()), "D|D");
}

TEST_F(CommandListTest, AWriteAfterAWriteWaits) {
  Record({All(0)}, {true});
  Record({All(0)}, {true});
  EXPECT_EQ(Pattern(recorder_.Finish()), "D|D");
}

TEST_F(CommandListTest, ReadsOfTheSameBytesDoNotWait) {
  Record({All(0), All(1)}, {false, true});
  Record({All(0), All(2)}, {false, true});
  EXPECT_EQ(Pattern(recorder_.Finish()), "DD");
}

TEST_F(CommandListTest, DisjointPartsOfOneBufferDoNotWait) {
  Record({Part(0, 0, 256)}, {true});
  Record({Part(0, 256, 256)}, {true});
  EXPECT_EQ(Pattern(recorder_.Finish()), "DD");
}

TEST_F(CommandListTest, PartsThatShareOneByteWait) {
  Record({Part(0, 0, 257)}, {true});
  Record({Part(0, 256, 256)}, {false});
  EXPECT_EQ(Pattern(recorder_.Finish()), "D|D");
}

TEST_F(CommandListTest, ADispatchThatWritesWhatItReadsNeedsNoBarrierOfItsOwn) {
  Record({All(0), All(0)}, {false, true});
  EXPECT_EQ(Pattern(recorder_.Finish()), "D");
}

TEST_F(CommandListTest, ABarrierCoversAllThatCameBeforeIt) {
  Record({All(0)}, {true});
  Record({All(1)}, {true});
  Record({All(0), All(2)}, {false, true});  // waits for both
  Record({All(1)}, {false});
  EXPECT_EQ(Pattern(recorder_.Finish()), "DD|DD");
}

TEST_F(CommandListTest, AFinishedRecorderStartsAnew) {
  Record({All(0)}, {true});
  EXPECT_EQ(Pattern(recorder_.Finish()), "D");
  Record({All(0)}, {true});
  EXPECT_EQ(Pattern(recorder_.Finish()), "D");
  EXPECT_EQ(Pattern(recorder_.Finish()), "");
}

TEST_F(CommandListTest, RandomListsNeverRaceAndNoBarrierIsSuperfluous) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](uint32_t limit) { return static_cast<int>(random() % limit); };
  for (int round = 0; round < 20; ++round) {
    for (int step = 0; step < 12; ++step) {
      std::vector<BoundRange> ranges;
      std::vector<bool> writes;
      for (int k = 1 + below(3); k > 0; --k) {
        const int first = below(4);
        ranges.push_back(Part(below(3), 256u * first, 256u * (1 + below(4 - first))));
        writes.push_back(below(2) == 0);
      }
      Record(std::move(ranges), writes);
    }
    const CommandList list = recorder_.Finish();
    const auto prepared = device_.Prepare(list);
    ASSERT_TRUE(prepared.ok()) << prepared.status().message();
    for (size_t k = 0; k < list.commands.size(); ++k) {
      if (std::holds_alternative<DispatchCommand>(list.commands[k])) continue;
      CommandList without = list;
      without.commands.erase(without.commands.begin() + static_cast<std::ptrdiff_t>(k));
      EXPECT_FALSE(device_.Prepare(without).ok()) << "command " << k << " of " << Pattern(list);
    }
  }
}

}  // namespace
}  // namespace hearth
