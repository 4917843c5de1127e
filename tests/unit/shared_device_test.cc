// Sessions of several models on one device, and buffers of it that they pass on.
#include <gtest/gtest.h>

#include <cstring>

#include "hal/device/native.h"
#include "hearth/graph_builder.h"
#include "runtime/session/session_data.h"
#include "tests/testing/device_names.h"
#include "tests/testing/fake_gpu.h"
#include "tests/testing/on_device.h"

namespace hearth {
namespace {

using testing::ModelOf;

// y = x * factor + 1, of 5 times 6 floats.
Model Line(float factor) {
  GraphBuilder builder("line");
  const auto x = builder.Input("x", {1, 5, 6});
  const std::vector<float> factors(1, factor), ones(1, 1);
  const auto scaled = builder.Binary("mul", x, builder.Constant("factor", {1}, factors));
  builder.Output(builder.Binary("add", scaled, builder.Constant("one", {1}, ones)), "y");
  return ModelOf(std::move(builder));
}

constexpr size_t kElements = 30;

class SharedDevice : public testing::OnDevice {
 protected:
  std::shared_ptr<Buffer> NewBuffer(float value) {
    std::shared_ptr<Buffer> buffer = opened_.device->CreateBuffer(kElements * sizeof(float)).value();
    const Status written = opened_.device->Write(*buffer, 0, buffer->size_bytes(), [&](std::span<std::byte> bytes) {
      const std::vector<float> values(kElements, value);
      std::memcpy(bytes.data(), values.data(), bytes.size());
      return Status::Ok();
    });
    EXPECT_TRUE(written.ok()) << written.message();
    return buffer;
  }
  std::vector<float> Content(const Buffer& buffer) {
    std::vector<float> values(kElements);
    const Status read = opened_.device->Read(buffer, 0, buffer.size_bytes(), [&](std::span<const std::byte> bytes) {
      std::memcpy(values.data(), bytes.data(), bytes.size());
      return Status::Ok();
    });
    EXPECT_TRUE(read.ok()) << read.message();
    return values;
  }
  Session On(const Model& model) {
    Result<Session> session = CreateSessionOn(opened_, model, {.device = GetParam(), .use_cache = false});
    EXPECT_TRUE(session.ok()) << session.status().message();
    EXPECT_EQ(DeviceOf(*session), opened_.device);
    return std::move(session).value();
  }
  static void Run(Session& session, std::shared_ptr<Buffer> from, std::shared_ptr<Buffer> to) {
    const auto binding = [](std::shared_ptr<Buffer>& buffer) {
      return Binding{kOwnBuffer, reinterpret_cast<uintptr_t>(&buffer), buffer->size_bytes()};
    };
    for (const Status& status :
         {session.BindInput("x", binding(from)), session.BindOutput("y", binding(to)), session.Run()}) {
      ASSERT_TRUE(status.ok()) << status.message();
    }
    EXPECT_EQ(session.report().transfers.to_device_bytes, 0u);
    EXPECT_EQ(session.report().transfers.to_host_bytes, 0u);
  }
};

TEST_P(SharedDevice, SessionsPassABufferOn) {
  const Model twice = Line(2), thrice = Line(3);
  const std::shared_ptr<Buffer> a = NewBuffer(1), b = NewBuffer(0);
  {
    Session first = On(twice), second = On(thrice);
    Run(first, a, b);
    EXPECT_EQ(Content(*b), std::vector<float>(kElements, 3));
    Run(second, b, a);
    EXPECT_EQ(Content(*a), std::vector<float>(kElements, 10));
    Run(second, a, b);  // swapped
    Run(first, b, b);   // in place
  }
  EXPECT_EQ(Content(*b), std::vector<float>(kElements, 63));
}

TEST_P(SharedDevice, ASessionKeepsTheBufferThatItIsBoundTo) {
  const Model twice = Line(2);
  Session session = On(twice);
  Run(session, NewBuffer(1), NewBuffer(0));
  ASSERT_TRUE(session.Run().ok());
  const std::shared_ptr<Buffer> out = NewBuffer(0);
  Run(session, NewBuffer(4), out);
  EXPECT_EQ(Content(*out), std::vector<float>(kElements, 9));
}

TEST_P(SharedDevice, ABufferThatIsTooSmallIsRefused) {
  const Model twice = Line(2);
  Session session = On(twice);
  std::shared_ptr<Buffer> small = opened_.device->CreateBuffer(16).value();
  EXPECT_EQ(session.BindInput("x", {kOwnBuffer, reinterpret_cast<uintptr_t>(&small), small->size_bytes()}).code(),
            StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Devices, SharedDevice, ::testing::Values("opencl", "vulkan", "gles"),
                         [](const auto& device) { return std::string(device.param); });

}  // namespace
}  // namespace hearth
