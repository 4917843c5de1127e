// Recurrent networks: LSTM, RNN and SVDF, with one or several steps and states other than zero.
#include <fmt/format.h>

#include "conformance/conformance_case.h"

namespace hearth::conformance {
namespace {

// A case of one of a node's `outputs`.
ConformanceCase OneOutput(const CaseName& name, const Exactness& exactness, const Op& op,
                          const std::vector<Operand>& operands, size_t outputs, int output) {
  const auto build = [=](CaseGraph& graph) {
    return graph.Nodes(op, graph.AllOf(operands), std::vector<ElementType>(outputs))[output];
  };
  return NewCase(name, exactness, build, false);
}

struct LstmCase {
  Shape x;  // [B,I], or [B,T,I] and [T,B,I] with time_major
  int32_t units = 4;
  bool time_major = false, cifg = false, peephole = false, normalization = false;
  int32_t projection = 0;  // outputs; 0: none
  Activation activation = Activation::kTanh;
  float cell_clip = 0.0f, proj_clip = 0.0f;
};

std::string NameOf(const LstmCase& spec) {
  std::string name = fmt::format("{}_units{}", spec.x, spec.units);
  if (spec.time_major) name += "_time_major";
  if (spec.cifg) name += "_cifg";
  if (spec.peephole) name += "_peephole";
  if (spec.normalization) name += "_normalized";
  if (spec.projection > 0) name += fmt::format("_to{}", spec.projection);
  if (spec.activation != Activation::kTanh) name += fmt::format("_{}", ActivationName(spec.activation));
  if (spec.cell_clip > 0.0f) name += "_cell_clip";
  if (spec.proj_clip > 0.0f) name += "_proj_clip";
  return name;
}

// `output`: 0 the sequence, 1 the output state, 2 the cell state.
ConformanceCase MakeLstm(const LstmCase& spec, int output) {
  constexpr const char* kOutputs[] = {"", "_h", "_c"};
  const int32_t batch = spec.x[spec.time_major && spec.x.rank() == 3 ? 1 : 0];
  const int32_t depth = spec.x[spec.x.rank() - 1];
  const int32_t steps = static_cast<int32_t>(spec.x.element_count() / batch / depth);
  const int32_t outputs = spec.projection > 0 ? spec.projection : spec.units;
  const int32_t rows = (spec.cifg ? 3 : 4) * spec.units;
  const std::vector<Operand> operands = {In(spec.x),
                                         In({batch, outputs}),
                                         In({batch, spec.units}),
                                         Const({rows, depth}),
                                         Const({rows, outputs}),
                                         Const({rows}),
                                         If(spec.peephole, Const({rows - spec.units})),
                                         If(spec.normalization, Const({rows})),
                                         If(spec.projection > 0, Const({outputs, spec.units})),
                                         If(spec.projection > 0, Const({outputs}))};
  const Lstm lstm{spec.time_major, spec.activation, spec.cell_clip, spec.proj_clip};
  // Errors carry over from step to step; each gate adds a sum, an exponential and a division.
  const Exactness exactness{int64_t{depth + outputs + spec.units} * steps, 32.0 * steps};
  return OneOutput({"lstm", NameOf(spec) + kOutputs[output]}, exactness, lstm, operands, 3, output);
}

void AddLstm(std::vector<ConformanceCase>& cases) {
  const LstmCase specs[] = {
      {{1, 4}},
      {{1, 1}, 1},
      {{3, 5}, 7},
      {{2, 3}, 6},
      {{1, 28}, 20},
      {{1, 5, 3}, 5},
      {{2, 3, 4}, 8},
      {{3, 2, 7}, 3, true},
      {{5, 1, 2}, 9, true},
      {{2, 5}, 3, false, true},
      {{2, 3, 5}, 6, false, true},
      {{2, 5}, 5, false, false, true},
      {{2, 2, 3}, 7, true, false, true},
      {{2, 5}, 6, false, true, true},
      {{2, 5}, 7, false, false, false, true},
      {{1, 3, 5}, 8, false, true, false, true},
      {{2, 2, 5}, 5, false, false, true, true},
      {{2, 5}, 3, false, true, true, true, 2},
      {{2, 5}, 6, false, false, false, false, 3},
      {{2, 3, 5}, 4, true, false, false, false, 7},
      {{2, 3, 5}, 5, false, false, true, true, 6},
      {{2, 5}, 4, false, false, false, false, 0, Activation::kRelu},
      {{2, 5}, 4, false, false, false, false, 0, Activation::kNone, 0.25f},
      {{2, 2, 5}, 5, false, false, false, false, 0, Activation::kSigmoid},
      {{2, 2, 5}, 5, false, false, false, false, 0, Activation::kRelu6},
      {{2, 2, 5}, 5, false, true, false, false, 0, Activation::kTanh, 0.5f},
      {{2, 2, 5}, 5, false, true, false, false, 6, Activation::kTanh, 0.5f, 0.125f},
      {{1, 2, 33}, 65},
      {{1, 9, 130}, 34},
  };
  for (const LstmCase& spec : specs) {
    for (int output : {0, 1, 2}) cases.push_back(MakeLstm(spec, output));
  }
}

void AddRnn(std::vector<ConformanceCase>& cases) {
  struct Spec {
    Shape x;
    int32_t units;
    bool time_major;
    Activation activation;
  };
  const Spec specs[] = {
      {{1, 1}, 1, false, Activation::kNone},    {{2, 5}, 3, false, Activation::kRelu},
      {{1, 17}, 8, false, Activation::kTanh},   {{2, 3, 5}, 6, false, Activation::kTanh},
      {{3, 2, 5}, 7, true, Activation::kRelu6}, {{1, 6, 4}, 4, false, Activation::kReluN1To1},
      {{5, 1, 3}, 33, true, Activation::kTanh}, {{2, 2, 65}, 5, false, Activation::kSigmoid},
  };
  for (const Spec& spec : specs) {
    for (int output : {0, 1}) {
      const std::string name =
          fmt::format("{}_units{}{}_{}{}", spec.x, spec.units, spec.time_major ? "_time_major" : "",
                      ActivationName(spec.activation), output == 1 ? "_h" : "");
      const int32_t batch = spec.x[spec.time_major ? 1 : 0], depth = spec.x[spec.x.rank() - 1];
      const auto steps = static_cast<int32_t>(spec.x.element_count() / batch / depth);
      cases.push_back(OneOutput({"rnn", name}, {int64_t{depth + spec.units} * steps, 16.0 * steps},
                                Rnn{spec.time_major, spec.activation},
                                {In(spec.x), In({batch, spec.units}), Const({spec.units, depth}),
                                 Const({spec.units, spec.units}), Const({spec.units})},
                                2, output));
    }
  }
}

void AddSvdf(std::vector<ConformanceCase>& cases) {
  struct Spec {
    int32_t batch, depth, filters, memory, rank;
    bool bias;
    Activation activation;
  };
  const Spec specs[] = {
      {1, 1, 1, 1, 1, false, Activation::kNone}, {2, 3, 4, 5, 1, true, Activation::kNone},
      {2, 3, 4, 10, 2, true, Activation::kRelu}, {1, 5, 6, 3, 3, false, Activation::kNone},
      {3, 7, 10, 1, 2, true, Activation::kNone}, {1, 33, 32, 9, 4, true, Activation::kRelu},
  };
  for (const Spec& spec : specs) {
    for (int output : {0, 1}) {
      const std::string name = fmt::format("{}x{}_filters{}_memory{}_rank{}{}_{}{}", spec.batch, spec.depth,
                                           spec.filters, spec.memory, spec.rank, spec.bias ? "" : "_nobias",
                                           ActivationName(spec.activation), output == 1 ? "_state" : "");
      std::vector<Operand> operands = {In({spec.batch, spec.depth}), In({spec.batch, spec.filters * spec.memory}),
                                       Const({spec.filters, spec.depth}), Const({spec.filters, spec.memory})};
      if (spec.bias) operands.push_back(Const({spec.filters / spec.rank}));
      cases.push_back(OneOutput({"svdf", name}, {int64_t{spec.depth} + int64_t{spec.rank} * spec.memory, 4.0},
                                Svdf{spec.rank, spec.activation}, operands, 2, output));
    }
  }
}

}  // namespace

void AddRecurrentCases(std::vector<ConformanceCase>& cases) {
  AddLstm(cases);
  AddRnn(cases);
  AddSvdf(cases);
}

}  // namespace hearth::conformance
