// Inputs and outputs of 8 bits on a device whose memory is not the host's: they cross as bytes, and the device's
// kernels give the same bytes as the host's conversion does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hearth/session.h"
#include "runtime/devices/backends.h"
#include "tests/testing/builtin_codes.h"
#include "tests/testing/on_device.h"
#include "tests/testing/tflite_writer.h"

namespace hearth {
namespace {

constexpr int kOddHeight = 7, kOddWidth = 43;

struct ByteTensor {
  wire::TensorType type;
  int32_t channels;
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
};

// y = max(x, 0), from one grid to another.
Result<Model> Relu(const ByteTensor& bytes, std::vector<int32_t> shape = {}) {
  TfliteWriter writer;
  if (shape.empty()) shape = {1, kOddHeight, kOddWidth, bytes.channels};
  const auto grid = [&](size_t k) { return WrittenQuantization{{bytes.scales[k]}, {bytes.zero_points[k]}}; };
  const int32_t x = writer.AddTensor({"x", shape, bytes.type, grid(0)});
  const int32_t y = writer.AddTensor({"y", shape, bytes.type, grid(1)});
  writer.AddOperator(kRelu, {x}, {y});
  return Model::FromMemory(writer.Finish({x}, {y}), "relu");
}

std::vector<std::byte> Numbers(size_t count, int seed) {
  std::vector<std::byte> numbers(count);  // all 256 of them
  for (size_t k = 0; k < count; ++k) numbers[k] = static_cast<std::byte>(k * 37 + static_cast<size_t>(seed));
  return numbers;
}

std::vector<std::byte> Copy(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

class ByteTransfer : public testing::SessionsOnDevice {
 protected:
  Session Discrete(const Model& model) {
    options_.simulate = "navi21";
    Session session = Opened(model);
    options_.simulate.clear();
    return session;
  }
};

TEST_P(ByteTransfer, GivesTheBytesThatTheHostsConversionGives) {
  using Case = std::pair<wire::TensorType, int32_t>;
  for (const auto& [type, channels] : {Case{wire::TensorType_INT8, 3}, Case{wire::TensorType_UINT8, 6}}) {
    const int64_t zero = type == wire::TensorType_INT8 ? -3 : 125;
    const Result<Model> model = Relu({type, channels, {0.0473f, 0.0311f}, {zero, zero - 100}});
    ASSERT_TRUE(model.ok()) << model.status().message();
    Session shared = Opened(*model), discrete = Discrete(*model);
    const size_t count = size_t{kOddHeight} * kOddWidth * static_cast<size_t>(channels);
    for (int seed = 0; seed < 3; ++seed) {
      std::vector<std::byte> answers[2];
      for (Session* session : {&shared, &discrete}) {
        ASSERT_TRUE(session->SetInput(0, Numbers(count, seed)).ok());
        const Status ran = session->Run();
        ASSERT_TRUE(ran.ok()) << ran.message();
        answers[session == &discrete] = Copy(session->output(0));
      }
      EXPECT_EQ(answers[0], answers[1]) << channels << " channels";
    }
  }
}

TEST_P(ByteTransfer, OfMoreColumnsRowsOrSlicesThanAGridHasGroupsGivesTheHostsBytesToo) {
  const std::vector<std::vector<int32_t>> shapes = {{1, 300000}, {600000, 1}, {1, 1, 600000, 1}};
  for (const std::vector<int32_t>& shape : shapes) {
    const Result<Model> model = Relu({wire::TensorType_INT8, 0, {0.0473f, 0.0311f}, {-3, 7}}, shape);
    ASSERT_TRUE(model.ok()) << model.status().message();
    Session shared = Opened(*model), discrete = Discrete(*model);
    const std::vector<std::byte> numbers = Numbers(shared.inputs()[0].size_bytes, 1);
    for (Session* session : {&shared, &discrete}) {
      ASSERT_TRUE(session->SetInput(0, numbers).ok());
      const Status ran = session->Run();
      ASSERT_TRUE(ran.ok()) << ran.message();
    }
    EXPECT_TRUE(Copy(discrete.output(0)) == Copy(shared.output(0))) << numbers.size() << " numbers";
  }
}

TEST_P(ByteTransfer, TakesAByteForANumberOverTheBus) {
  const Result<Model> model = Relu({wire::TensorType_UINT8, 3, {0.05f, 0.05f}, {10, 10}});
  ASSERT_TRUE(model.ok()) << model.status().message();
  constexpr size_t kCount = size_t{kOddHeight} * kOddWidth * 3;
  Session session = Discrete(*model);
  ASSERT_TRUE(session.SetInput(0, Numbers(kCount, 1)).ok());
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(session.Run().ok());
    const auto& transfers = session.report().transfers;
    EXPECT_EQ(transfers.to_device_bytes, (kCount + 3) / 4 * 4);
    EXPECT_EQ(transfers.to_host_bytes, (kCount + 3) / 4 * 4);
  }
}

TEST_P(ByteTransfer, RunsInFlightHaveBytesOfTheirOwn) {
  const Result<Model> model = Relu({wire::TensorType_INT8, 3, {0.0473f, 0.0311f}, {-3, 7}});
  ASSERT_TRUE(model.ok()) << model.status().message();
  constexpr size_t kCount = size_t{kOddHeight} * kOddWidth * 3;
  options_.max_in_flight = 3;
  Session shared = Opened(*model), discrete = Discrete(*model);
  std::vector<Ticket> tickets;
  for (int seed = 0; seed < 3; ++seed) {
    ASSERT_TRUE(discrete.SetInput(0, Numbers(kCount, seed)).ok());
    const Result<Ticket> ticket = discrete.Submit();
    ASSERT_TRUE(ticket.ok()) << ticket.status().message();
    tickets.push_back(*ticket);
  }
  for (int seed = 0; seed < 3; ++seed) {
    const Status waited = discrete.Wait(tickets[static_cast<size_t>(seed)]);
    ASSERT_TRUE(waited.ok()) << waited.message();
    ASSERT_TRUE(shared.SetInput(0, Numbers(kCount, seed)).ok());
    ASSERT_TRUE(shared.Run().ok());
    EXPECT_EQ(Copy(discrete.output(0)), Copy(shared.output(0))) << "run " << seed;
  }
}

// A build without GPU backends has nothing to instantiate this with.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ByteTransfer);
INSTANTIATE_TEST_SUITE_P(Devices, ByteTransfer, ::testing::ValuesIn(BackendNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
