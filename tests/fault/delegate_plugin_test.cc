// The delegate plugin, loaded like the interpreter loads it, driven through the C structs by an interpreter of our own,
// with everything that can be wrong about what it is given.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/fault/plugin_network.h"
#include "tests/testing/mock_interpreter.h"
#include "tests/testing/temporary_folder.h"

namespace hearth::testing {
namespace {

using namespace tflite_c;  // NOLINT(google-build-using-namespace): the names of one interface
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(DelegatePlugin, LoadsRunsUnloadsAndLoadsAgain) {
  for (int round = 0; round < 3; ++round) {
    const Plugin plugin;
    TfLiteDelegate* delegate = plugin.CreateOnCpu();
    ASSERT_NE(delegate, nullptr);
    {
      MockInterpreter host;
      const Network network(host);
      ASSERT_EQ(host.Apply(delegate), kTfLiteOk) << host.messages();
      EXPECT_THAT(host.partitions(), ElementsAre(ElementsAre(0, 1, 2)));
      for (int k = 0; k < 3; ++k) network.ExpectItWorks();
      EXPECT_EQ(host.messages(), "");
    }
    plugin.destroy(delegate);
  }
}

TEST(DelegatePlugin, RunsInPartitionsAroundWhatItDoesNotKnow) {
  const Plugin plugin;
  TfLiteDelegate* delegate = plugin.CreateOnCpu();
  MockInterpreter host;
  const Network network(host, /*has_unknown=*/true);
  ASSERT_EQ(host.Apply(delegate), kTfLiteOk) << host.messages();
  EXPECT_THAT(host.partitions(), ElementsAre(ElementsAre(0, 1), ElementsAre(3)));
  EXPECT_THAT(host.messages(), HasSubstr("CONCAT_EMBEDDINGS (node 2): not offered"));
  network.ExpectItWorks();
  host.TakeBack();
  plugin.destroy(delegate);
}

TEST(DelegatePlugin, FollowsResizedInputsWhichLieElsewhere) {
  const Plugin plugin;
  TfLiteDelegate* delegate = plugin.CreateOnCpu();
  for (const bool has_unknown : {false, true}) {
    MockInterpreter host;
    const Network network(host, has_unknown);
    ASSERT_EQ(host.Apply(delegate), kTfLiteOk);
    for (const int batch : {3, 3, 1, 7}) {
      ASSERT_EQ(host.ResizeFirstDimension(batch), kTfLiteOk) << host.messages();
      EXPECT_EQ(host.partitions().size(), has_unknown ? 2U : 1U);
      network.ExpectItWorks();
    }
  }
  plugin.destroy(delegate);
}

TEST(DelegatePlugin, AShapeThatItCannotRunIsAnErrorUntilTheNextShape) {
  const Plugin plugin;
  TfLiteDelegate* delegate = plugin.CreateOnCpu();
  MockInterpreter host;
  const Network network(host);
  ASSERT_EQ(host.Apply(delegate), kTfLiteOk);
  int& channels = host.tensor(network.x).dims->data[3];
  channels = 3;  // where the filter has 2
  EXPECT_EQ(host.ResizeFirstDimension(2), kTfLiteDelegateError);
  EXPECT_EQ(host.Invoke(), kTfLiteDelegateError);
  EXPECT_THAT(host.messages(), HasSubstr("Hearth: "));
  channels = 2;
  ASSERT_EQ(host.ResizeFirstDimension(2), kTfLiteOk) << host.messages();
  network.ExpectItWorks();
  plugin.destroy(delegate);
}

// The interpreter has not prepared its nodes yet when it asks.
TEST(DelegatePlugin, TakesNothingFromShapesThatTheFileHasForWhatNodesMake) {
  const Plugin plugin;
  TfLiteDelegate* delegate = plugin.CreateOnCpu();
  MockInterpreter host;
  const Network network(host);
  for (const int made : {network.scaled, network.y}) host.tensor(made).dims->data[1] = 5;
  ASSERT_EQ(host.Apply(delegate), kTfLiteOk) << host.messages();
  EXPECT_EQ(host.partitions().size(), 1U);
  network.ExpectItWorks();
  EXPECT_EQ(host.floats(network.y).size(), 8U);
  plugin.destroy(delegate);
}

TEST(DelegatePlugin, LeavesNodesBehindSizesThatAreKnownOnlyWhileTheNetworkRuns) {
  const Plugin plugin;
  TfLiteDelegate* delegate = plugin.CreateOnCpu();
  MockInterpreter host;
  const Network network(host, /*has_unknown=*/true);
  std::vector<int> signature = {4, 1, -1, 2, 2};  // an array of the interpreter's: its length first
  host.tensor(network.negated).dims_signature = reinterpret_cast<const TfLiteIntArray*>(signature.data());
  ASSERT_EQ(host.Apply(delegate), kTfLiteOk) << host.messages();
  EXPECT_THAT(host.partitions(), ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(host.messages(), HasSubstr("ADD (node 3): the size of tensor 5 'tensor' is known only while"));
  // What the file leaves open because it does so for an input is no such size.
  host.TakeBack();
  host.tensor(network.x).dims_signature = reinterpret_cast<const TfLiteIntArray*>(signature.data());
  ASSERT_EQ(host.Apply(delegate), kTfLiteOk) << host.messages();
  EXPECT_THAT(host.partitions(), ElementsAre(ElementsAre(0, 1), ElementsAre(3)));
  host.TakeBack();
  plugin.destroy(delegate);
}

TEST(DelegatePlugin, LeavesNodesThatTheOptionsName) {
  const Plugin plugin;
  TfLiteDelegate* delegate = plugin.CreateOnCpu({{"cpu_ops", "relu,op:2,harp"}});
  MockInterpreter host;
  const Network network(host);
  ASSERT_EQ(host.Apply(delegate), kTfLiteOk) << host.messages();
  EXPECT_THAT(host.partitions(), ElementsAre(ElementsAre(0)));
  EXPECT_THAT(host.messages(), HasSubstr("RELU (node 1): the option cpu_ops names it"));
  EXPECT_THAT(host.messages(), HasSubstr("'harp' was to stay with the interpreter, but no operation"));
  EXPECT_THAT(host.messages(), ::testing::Not(HasSubstr("'relu' was")));
  host.TakeBack();
  plugin.destroy(delegate);
}

TEST(DelegatePlugin, ServesInterpretersOnSeveralThreads) {
  const Plugin plugin;
  const TemporaryFolder folder;
  TfLiteDelegate* delegate = plugin.CreateOnCpu({{"report", folder.path() / "report.json"}});
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([delegate] {
      MockInterpreter host;
      const Network network(host, /*has_unknown=*/true);
      ASSERT_EQ(host.Apply(delegate), kTfLiteOk) << host.messages();
      for (int run = 0; run < 5; ++run) network.ExpectItWorks();
    });
  }
  for (std::thread& thread : threads) thread.join();
  plugin.destroy(delegate);
}

TEST(DelegatePlugin, LeavesTheInterpreterItsNetworkWhicheverCallFails) {
  const Plugin plugin;
  TfLiteDelegate* delegate = plugin.CreateOnCpu();
  int failures = 0;
  for (int call = 1;; ++call) {
    MockInterpreter host;
    const Network network(host, /*has_unknown=*/true);
    host.FailAt(call);
    const TfLiteStatus status = host.Apply(delegate);
    if (host.calls_made() < call) break;
    if (status == kTfLiteOk) {
      network.ExpectItWorks();
      continue;
    }
    ++failures;
    EXPECT_EQ(status, kTfLiteDelegateError);
    EXPECT_THAT(host.partitions(), IsEmpty());
    EXPECT_THAT(host.messages(), HasSubstr("Hearth: "));
  }
  EXPECT_GT(failures, 5);
  plugin.destroy(delegate);
}

TEST(DelegatePlugin, SaysSoWhenTheInterpreterLacksFunctions) {
  const Plugin plugin;
  TfLiteDelegate* delegate = plugin.CreateOnCpu();
  MockInterpreter host;
  const Network network(host);
  const TfLiteContext whole = host.context();
  const auto expect_error = [&] {
    EXPECT_EQ(host.Apply(delegate), kTfLiteDelegateError);
    host.context() = whole;
  };
  host.context().GetExecutionPlan = nullptr;
  expect_error();
  host.context().GetNodeAndRegistration = nullptr;
  expect_error();
  host.context().PreviewDelegatePartitioning = nullptr;
  expect_error();
  host.context().ReplaceNodeSubsetsWithDelegateKernels = nullptr;
  expect_error();
  host.context().tensors = nullptr;  // no node is understood then
  EXPECT_EQ(host.Apply(delegate), kTfLiteOk);
  EXPECT_THAT(host.partitions(), IsEmpty());
  host.context() = whole;
  host.context().ReportError = nullptr;
  host.context().GetExecutionPlan = nullptr;
  expect_error();
  EXPECT_EQ(host.Apply(delegate), kTfLiteOk);
  network.ExpectItWorks();
  host.TakeBack();
  plugin.destroy(delegate);
}

// Damages the network, applies the delegate, and gives the number of nodes that it still takes.
template <typename Damage>
size_t NodesTakenWith(const Damage& damage) {
  const Plugin plugin;
  TfLiteDelegate* delegate = plugin.CreateOnCpu();
  size_t taken = 0;
  {
    MockInterpreter host;
    Network network(host);
    damage(host, network);
    if (host.Apply(delegate) == kTfLiteOk) {
      for (const auto& nodes : host.partitions()) taken += nodes.size();
    } else {
      EXPECT_THAT(host.messages(), HasSubstr("Hearth: "));
    }
  }
  plugin.destroy(delegate);
  return taken;
}

TEST(DelegatePlugin, LeavesNodesWhoseTensorsAreWrong) {
  const auto with_x = [](const auto& damage) {
    return NodesTakenWith([&](MockInterpreter& host, Network& network) { damage(host.tensor(network.x)); });
  };
  EXPECT_EQ(with_x([](TfLiteTensor&) {}), 3U);
  EXPECT_EQ(with_x([](TfLiteTensor& x) { x.type = kTfLiteString; }), 2U);
  EXPECT_EQ(with_x([](TfLiteTensor& x) { x.type = kTfLiteResource; }), 2U);
  EXPECT_EQ(with_x([](TfLiteTensor& x) { x.type = static_cast<TfLiteType>(1234); }), 2U);
  EXPECT_EQ(with_x([](TfLiteTensor& x) { x.type = static_cast<TfLiteType>(-5); }), 2U);
  EXPECT_EQ(with_x([](TfLiteTensor& x) { x.dims = nullptr; }), 2U);
  EXPECT_EQ(with_x([](TfLiteTensor& x) { x.dims->data[1] = -1; }), 2U);
  EXPECT_EQ(with_x([](TfLiteTensor& x) { x.dims->data[3] = 3; }), 2U);
  EXPECT_EQ(with_x([](TfLiteTensor& x) { x.allocation_type = kTfLiteDynamic; }), 2U);
  EXPECT_EQ(with_x([](TfLiteTensor& x) { x.quantization.type = static_cast<TfLiteQuantizationType>(2); }), 2U);
  EXPECT_EQ(with_x([](TfLiteTensor& x) { x.name = nullptr; }), 3U);
  EXPECT_EQ(with_x([](TfLiteTensor& x) { x.dims->data[1] = 0; }), 3U);  // a picture without rows
}

TEST(DelegatePlugin, LeavesNodesWhoseConstantsAreWrong) {
  const auto with_filter = [](const auto& damage) {
    return NodesTakenWith([&](MockInterpreter& host, Network& network) { damage(host.tensor(network.filter)); });
  };
  EXPECT_EQ(with_filter([](TfLiteTensor& filter) { filter.bytes = 12; }), 2U);
  EXPECT_EQ(with_filter([](TfLiteTensor& filter) { filter.dims->data[0] = 1 << 30; }), 2U);
  // What has no content is an input: the convolution runs with weights that come at run time.
  EXPECT_EQ(with_filter([](TfLiteTensor& filter) { filter.data = nullptr; }), 3U);
}

TEST(DelegatePlugin, LeavesNodesThatAreWrong) {
  const auto with_conv = [](const auto& damage) {
    return NodesTakenWith([&](MockInterpreter& host, Network& network) { damage(host.node(network.conv)); });
  };
  EXPECT_EQ(with_conv([](TfLiteNode& conv) { conv.builtin_data = nullptr; }), 2U);
  EXPECT_EQ(with_conv([](TfLiteNode& conv) { conv.inputs = nullptr; }), 2U);
  EXPECT_EQ(with_conv([](TfLiteNode& conv) { conv.inputs->data[1] = 77; }), 2U);
  EXPECT_EQ(with_conv([](TfLiteNode& conv) { conv.inputs->data[0] = -1; }), 2U);
  EXPECT_EQ(with_conv([](TfLiteNode& conv) { conv.outputs->data[0] = -2; }), 2U);
  EXPECT_EQ(with_conv([](TfLiteNode& conv) { static_cast<ConvParams*>(conv.builtin_data)->stride_width = 0; }), 2U);
  EXPECT_EQ(with_conv([](TfLiteNode& conv) { static_cast<ConvParams*>(conv.builtin_data)->activation = 1 << 20; }), 2U);
  TfLiteDelegate other = {};
  EXPECT_EQ(with_conv([&](TfLiteNode& conv) { conv.delegate = &other; }), 2U);
}

TEST(DelegatePlugin, AnInvocationWithoutMemoryOrOfAnotherSizeIsAnError) {
  const Plugin plugin;
  TfLiteDelegate* delegate = plugin.CreateOnCpu();
  MockInterpreter host;
  const Network network(host);
  ASSERT_EQ(host.Apply(delegate), kTfLiteOk);
  for (const int index : {network.x, network.y}) {
    const TfLiteTensor whole = host.tensor(index);
    host.tensor(index).data = nullptr;
    EXPECT_EQ(host.Invoke(), kTfLiteDelegateError);
    host.tensor(index) = whole;
    host.tensor(index).bytes -= 4;
    EXPECT_EQ(host.Invoke(), kTfLiteDelegateError);
    host.tensor(index) = whole;
  }
  EXPECT_THAT(host.messages(), HasSubstr("gave no memory to tensor 0 'tensor'"));
  EXPECT_THAT(host.messages(), HasSubstr("takes 32 bytes, 28 were given"));
  network.ExpectItWorks();
  host.TakeBack();
  plugin.destroy(delegate);
}

std::string reported;  // NOLINT(readability-identifier-naming): what a C function can reach
void KeepReported(const char* text) {
  reported = text;
}

TEST(DelegatePlugin, RefusesBadOptionsWithASentence) {
  const Plugin plugin;
  const char* keys[] = {"device", "depth"};
  const char* values[] = {"cpu", nullptr};
  EXPECT_EQ(plugin.create(keys, values, 2, KeepReported), nullptr);
  EXPECT_EQ(reported, "option 1 of 2 has no name or no value");
  values[1] = "3";
  EXPECT_EQ(plugin.create(keys, values, 2, KeepReported), nullptr);
  EXPECT_THAT(reported, HasSubstr("no option is called 'depth'; there are device, precision,"));
  EXPECT_EQ(plugin.create(keys, values, 2, nullptr), nullptr);
  EXPECT_EQ(plugin.create(nullptr, nullptr, 2, nullptr), nullptr);
  plugin.destroy(plugin.create(nullptr, nullptr, 0, nullptr));
  plugin.destroy(nullptr);
  plugin.delete_v2(nullptr);
}

TEST(DelegatePlugin, TakesTheReferencesOptions) {
  const Plugin plugin;
  TfLiteGpuDelegateOptionsV2 options = plugin.default_options();
  EXPECT_EQ(options.is_precision_loss_allowed, -1);
  EXPECT_EQ(options.inference_priority1, 1);
  EXPECT_EQ(options.experimental_flags, 1);
  EXPECT_EQ(options.max_delegated_partitions, 1);
  EXPECT_EQ(options.serialization_dir, nullptr);
  MockInterpreter host;
  const Network network(host);
  options.inference_priority1 = 9;
  TfLiteDelegate* broken = plugin.create_v2(&options);
  ASSERT_NE(broken, nullptr);
  EXPECT_EQ(host.Apply(broken), kTfLiteDelegateError);
  EXPECT_THAT(host.messages(), HasSubstr("option inference_priority is '9'; it takes a number from 0 to 3"));
  plugin.delete_v2(broken);
  TfLiteDelegate* delegate = plugin.create_v2(nullptr);  // device auto: the CPU where there is no hardware GPU
  ASSERT_EQ(host.Apply(delegate), kTfLiteOk) << host.messages();
  network.ExpectItWorks();
  host.TakeBack();
  plugin.delete_v2(delegate);
}

TEST(DelegatePlugin, ExplainsAReportThatCannotBeWritten) {
  const Plugin plugin;
  TfLiteDelegate* delegate = plugin.CreateOnCpu({{"report", "/no such folder/report.json"}});
  MockInterpreter host;
  const Network network(host);
  ASSERT_EQ(host.Apply(delegate), kTfLiteOk);
  network.ExpectItWorks();
  EXPECT_EQ(host.messages(), "the report cannot be written to '/no such folder/report.json'\n");
  host.TakeBack();
  plugin.destroy(delegate);
}

}  // namespace
}  // namespace hearth::testing
