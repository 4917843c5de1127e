// make_seeds FOLDER: writes FOLDER/<fuzzer>/<number>, well-formed inputs from which the fuzzers start.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "backends/gles/program.h"
#include "backends/null/device.h"
#include "backends/vulkan/program.h"
#include "cache/sources/bundle_file.h"
#include "cache/trust/envelope.h"
#include "cache/trust/manifest.h"
#include "core/base/sha256.h"
#include "core/plan/tuning.h"
#include "core/store/entry_links.h"
#include "tests/fuzz/demo_plan.h"
#include "tests/testing/onnx_writer.h"
#include "tests/testing/small_models.h"

namespace hearth {
namespace {

std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// The seeds of one fuzzer.
class Seeds {
 public:
  explicit Seeds(const std::filesystem::path& folder) : folder_(folder) { std::filesystem::create_directories(folder); }

  void Add(std::span<const std::byte> bytes) {
    std::ofstream file(folder_ / std::to_string(count_++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::filesystem::path folder_;
  int count_ = 0;
};

// The single-operator models of tests/oracle join these (run_fuzzer.py).
void MakeModels(Seeds seeds) {
  seeds.Add(ModelOfAllKinds());
  seeds.Add(ModelWithALoop());
}

void MakeOnnxModels(Seeds seeds) {
  OnnxGraph pictures, sequences, body, loop;
  pictures.Input("x", {"1", "2", "4", "4"}).Output("y").Floats("w", {2, 2, 1, 1}, {1, 2, 3, -4});
  pictures.Node("Conv", {"x", "w"}, {"a"}).Node("Relu", {"a"}, {"b"}).Node("GlobalAveragePool", {"b"}, {"y"});
  seeds.Add(AsBytes(OnnxFile(pictures)));
  sequences.Input("x", {"n", "3"}).Output("y").Int64s("s", {2}, {-1, 1}).Int64s("a", {1}, {0});
  sequences.Node("Reshape", {"x", "s"}, {"r"}).Node("Unsqueeze", {"r", "a"}, {"u"}).Node("MatMul", {"x", "u"}, {"y"});
  seeds.Add(AsBytes(OnnxFile(sequences)));
  body.Input("n", {}, 7).Input("c", {}, 9).Input("v", {"2"}).Output("again", 9).Output("w").Output("all");
  body.Node("Add", {"v", "v"}, {"w"}).Node("Identity", {"c"}, {"again"}).Node("Neg", {"v"}, {"all"});
  loop.Input("x", {"2"}).Output("y").Output("z").Int64s("three", {}, {3});
  loop.Node("Loop", {"three", "", "x"}, {"y", "z"}, {OnnxGraph::Subgraph("body", body)});
  seeds.Add(AsBytes(OnnxFile(loop)));
}

void MakePlans(Seeds seeds) {
  seeds.Add(SerializePlan(DemoPlan(NullDeviceInfo()).plan()));
}

void MakeManifests(Seeds seeds) {
  Manifest manifest{.made_by = "0.1.0", .devices = {{}}, .entries = {{}, {.size_bytes = 5, .device = 0}}};
  manifest.devices[0].backend = "opencl";
  seeds.Add(AsBytes(manifest.ToText()));
  CacheKey key(BlobKind::kProgram);
  key.Add("device", "a name").Add("driver", "1.2.3");
  seeds.Add(AsBytes(key.material()));
}

// With and without a signature, whose bytes nobody asks for where no keys are named.
void MakeBundles(Seeds seeds, const std::filesystem::path& scratch) {
  for (const char* signature : {"", "00\n"}) {
    Manifest manifest{.made_by = "0.1.0"};
    CacheKey key(BlobKind::kTuning);
    key.Add("layer", "conv");
    const std::vector<std::byte> blob(700, std::byte{5});
    const std::vector<std::byte> envelope =
        MakeEnvelope({.key = &key, .bytes = blob, .cost_ms = 1.5, .checksum = FingerprintOf(blob)});
    manifest.entries.push_back({key.kind(), key.digest(), envelope.size(), Sha256Of(envelope), std::nullopt});
    std::filesystem::remove(scratch);
    auto writer = BundleFileWriter::Create(scratch);
    if (!writer.ok() || !writer->AddTexts({manifest.ToText(), signature}).ok() ||
        !writer->AddEntry(key.digest(), envelope).ok() || !writer->Finish().ok()) {
      continue;
    }
    std::ifstream file(scratch, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    seeds.Add(AsBytes(bytes));
  }
  std::filesystem::remove(scratch);
}

void MakeTuning(Seeds seeds) {
  seeds.Add(AsBytes(ToText(TuningRecord{})));
  TuningRecord record;
  record.candidates = {{.count = 3, .ms = 1.5, .squares = 0.25}, {.count = 1, .ms = 2}};
  record.of_all = true;
  seeds.Add(AsBytes(ToText(record)));
}

void MakeServerAnswers(Seeds seeds) {
  CacheKey key(BlobKind::kWeights);
  key.Add("name", "w");
  const std::vector<std::byte> blob(100, std::byte{7});
  const std::vector<std::byte> envelope =
      MakeEnvelope({.key = &key, .bytes = blob, .cost_ms = 2.5, .checksum = FingerprintOf(blob)});
  seeds.Add(envelope);
  std::string answer = "$" + std::to_string(envelope.size()) + "\r\n";
  answer.append(reinterpret_cast<const char*>(envelope.data()), envelope.size());
  seeds.Add(AsBytes(answer + "\r\n"));
  for (std::string_view text : {"+OK\r\n$-1\r\n:1\r\n", "-NOAUTH Authentication required.\r\n", "$3\r\nabc\r\n"}) {
    seeds.Add(AsBytes(text));
  }
}

void MakeContainers(Seeds seeds) {
  const std::vector<gles::ProgramBinary> binaries = {{1, {std::byte{1}, std::byte{2}}}, {2, {}}};
  seeds.Add(gles::PackBinaries(binaries));
  const vulkan::SpirvWords module = {0x07230203, 0x00010000, 0, 8, 0};
  seeds.Add(vulkan::Serialize({{module}, {std::byte{1}}}));
  seeds.Add(vulkan::Serialize({{module, module}, {}}));
  CacheKey source(BlobKind::kSource);
  const std::vector<std::byte> rest(3);
  seeds.Add(ToBytes({{source.Add("kernel", "conv")}, rest}));
}

void MakeSeeds(const std::filesystem::path& folder) {
  MakeModels(Seeds(folder / "model"));
  MakeOnnxModels(Seeds(folder / "onnx"));
  MakePlans(Seeds(folder / "plan"));
  MakeManifests(Seeds(folder / "manifest"));
  MakeBundles(Seeds(folder / "bundle"), folder / "scratch.tar");
  MakeTuning(Seeds(folder / "tuning"));
  MakeServerAnswers(Seeds(folder / "server"));
  MakeContainers(Seeds(folder / "container"));
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  hearth::MakeSeeds(argv[1]);
}
