// Products of values that other nodes only move, and values within others: lowering avoids copies of both.
#include <fmt/format.h>

#include "conformance/conformance_case.h"

namespace hearth::conformance {
namespace {

struct Heads {
  int32_t batch, length, keys, heads, depth;
};

std::string NameOf(const Heads& h) {
  return fmt::format("{}x{}_keys{}_heads{}_depth{}", h.batch, h.length, h.keys, h.heads, h.depth);
}

// [batch, length, heads * depth] to [batch, heads, length, depth].
ValueId SplitHeads(CaseGraph& g, ValueId x, const Heads& h, int32_t length) {
  const ValueId apart = g.Node(Reshape{{h.batch, length, h.heads, h.depth}}, {x});
  return g.Node(Transpose{{0, 2, 1, 3}}, {apart});
}

ValueId JoinHeads(CaseGraph& g, ValueId x, const Heads& h) {
  const ValueId together = g.Node(Transpose{{0, 2, 1, 3}}, {x});
  return g.Node(Reshape{{h.batch, h.length, h.heads * h.depth}}, {together});
}

ValueId Attend(CaseGraph& g, ValueId q, ValueId k, ValueId v, const Heads& h, bool masked) {
  ValueId scores = g.Node(BatchMatMul{false, true}, {q, k});
  scores = g.Node(Binary{BinaryKind::kMul}, {scores, g.Constant({1}, Positive)});
  if (masked) scores = g.Node(Binary{BinaryKind::kAdd}, {scores, g.Input({h.batch, 1, h.length, h.keys})});
  return g.Node(BatchMatMul{}, {g.Node(Softmax{}, {scores}), v});
}

void AddAttention(std::vector<ConformanceCase>& cases, const Heads& h) {
  const Exactness exactness{h.depth + h.keys, kUlpsOfCurves};
  const Shape queries = {h.batch, h.length, h.heads * h.depth}, keys = {h.batch, h.keys, h.heads * h.depth};
  for (const bool masked : {false, true}) {
    cases.push_back(NewCase({"attention", NameOf(h) + (masked ? "_masked" : "")}, exactness, [=](CaseGraph& g) {
      const ValueId q = SplitHeads(g, g.Input(queries), h, h.length), k = SplitHeads(g, g.Input(keys), h, h.keys);
      const ValueId v = SplitHeads(g, g.Input(keys), h, h.keys);
      return JoinHeads(g, Attend(g, q, k, v, h, masked), h);
    }));
  }
  cases.push_back(NewCase({"attention", NameOf(h) + "_joined_read_twice"}, exactness, [=](CaseGraph& g) {
    const ValueId q = SplitHeads(g, g.Input(queries), h, h.length), k = SplitHeads(g, g.Input(keys), h, h.keys);
    const ValueId apart = Attend(g, q, k, k, h, false);
    const ValueId joined = JoinHeads(g, apart, h), again = g.Node(Reshape{queries}, {apart});
    return g.Node(Binary{BinaryKind::kAdd}, {joined, again});
  }));
  cases.push_back(NewCase({"attention", NameOf(h) + "_turned_keys"}, exactness, [=](CaseGraph& g) {
    const ValueId apart = g.Node(Reshape{{h.batch, h.keys, h.heads, h.depth}}, {g.Input(keys)});
    const ValueId turned = g.Node(Transpose{{0, 2, 3, 1}}, {apart});
    const ValueId scores = g.Node(BatchMatMul{}, {SplitHeads(g, g.Input(queries), h, h.length), turned});
    return g.Node(Transpose{{0, 2, 1, 3}}, {g.Node(Unary{UnaryKind::kTanh}, {scores})});
  }));
  cases.push_back(NewCase({"attention", NameOf(h) + "_one_value"}, exactness, [=](CaseGraph& g) {
    const Shape packed = {h.batch, h.keys, 3, h.heads, h.depth};
    const Heads own{h.batch, h.keys, h.keys, h.heads, h.depth};
    const ValueId all = g.Node(Reshape{packed}, {g.Input({h.batch, h.keys, 3 * h.heads * h.depth})});
    const ValueId moved = g.Node(Transpose{{2, 0, 3, 1, 4}}, {all});
    const auto part = [&](int32_t at) {
      const Slice slice{{at, 0, 0, 0, 0},
                        {1, h.batch, h.heads, h.keys, h.depth},
                        {1, 1, 1, 1, 1},
                        {1, h.batch, h.heads, h.keys, h.depth}};
      return g.Node(Reshape{{h.batch, h.heads, h.keys, h.depth}}, {g.Node(slice, {moved})});
    };
    const ValueId q = part(0), k = part(1), v = part(2);
    return JoinHeads(g, Attend(g, q, k, v, own, false), own);
  }));
}

// A product reads the moved value; other nodes read the value before the move or after it.
void AddOtherReaders(std::vector<ConformanceCase>& cases) {
  const Heads h{1, 6, 6, 2, 8};
  const Exactness exactness{16, kUlpsOfCurves};
  cases.push_back(NewCase({"attention", "moved_operand_read_by_others"}, exactness, [=](CaseGraph& g) {
    const ValueId q = SplitHeads(g, g.Input({1, 6, 16}), h, 6);
    const ValueId product = g.Node(BatchMatMul{false, true}, {q, q});
    const ValueId curve = g.Node(Unary{UnaryKind::kTanh}, {q});
    return g.Node(BatchMatMul{}, {product, curve});
  }));
  cases.push_back(NewCase({"attention", "moved_twice_then_summed"}, exactness, [=](CaseGraph& g) {
    const ValueId x = g.Input({1, 6, 16});
    const ValueId back = JoinHeads(g, SplitHeads(g, x, h, 6), h);
    const ValueId turned = g.Node(Transpose{{0, 2, 1}}, {g.Node(Transpose{{0, 2, 1}}, {back})});
    return g.Node(Binary{BinaryKind::kAdd}, {turned, x});
  }));
  cases.push_back(NewCase({"attention", "reversed_and_moved"}, exactness, [=](CaseGraph& g) {
    const ValueId q = SplitHeads(g, g.Input({1, 6, 16}), h, 6);
    const ValueId reversed = g.Node(Reverse{0b0010}, {q}), columns = g.Node(Reverse{0b1000}, {q});
    return g.Node(BatchMatMul{false, true}, {reversed, columns});
  }));
  cases.push_back(NewCase({"attention", "no_multiple_of_four"}, exactness, [=](CaseGraph& g) {
    const Heads odd{2, 3, 5, 3, 6};
    const ValueId q = SplitHeads(g, g.Input({2, 3, 18}), odd, 3), k = SplitHeads(g, g.Input({2, 5, 18}), odd, 5);
    return JoinHeads(g, g.Node(BatchMatMul{}, {g.Node(BatchMatMul{false, true}, {q, k}), k}), odd);
  }));
}

// Parts of a tensor that are contiguous in it, and parts that are not.
void AddPart(std::vector<ConformanceCase>& cases, int32_t pixels, int32_t channels, int32_t first, int32_t count) {
  const std::string name = fmt::format("{}_pixels_{}_channels_{}_from_{}", pixels, channels, count, first);
  cases.push_back(NewCase({"part", name}, {count, kUlpsOfCurves}, [=](CaseGraph& g) {
    const ValueId x = g.Node(Unary{UnaryKind::kTanh}, {g.Input({1, pixels, channels})});
    const Slice slice{{0, 0, first}, {1, pixels, count}, {1, 1, 1}, {1, pixels, count}};
    const ValueId part = g.Node(slice, {x});
    const ValueId sum = g.Node(Binary{BinaryKind::kAdd}, {part, g.Node(Softmax{}, {part})});
    return g.Node(FullyConnected{.keep_dims = true}, {sum, g.Constant({6, count})});
  }));
}

void AddParts(std::vector<ConformanceCase>& cases) {
  for (const int32_t pixels : {1, 16, 17}) {
    AddPart(cases, pixels, 16, 0, 8);
    AddPart(cases, pixels, 16, 8, 8);
    AddPart(cases, pixels, 32, 4, 12);
    AddPart(cases, pixels, 24, 16, 5);
    AddPart(cases, pixels, 13, 4, 9);
    AddPart(cases, pixels, 16, 3, 8);
  }
  cases.push_back(NewCase({"part", "rows_of_one_slice"}, {3, kUlpsOfCurves}, [](CaseGraph& g) {
    const ValueId x = g.Node(Unary{UnaryKind::kTanh}, {g.Input({96, 3})});
    const Slice slice{{64, 0}, {17, 3}, {1, 1}, {17, 3}};
    return g.Node(Softmax{}, {g.Node(slice, {x})});
  }));
  cases.push_back(NewCase({"part", "split_and_joined_the_other_way"}, {}, [](CaseGraph& g) {
    const std::vector<ValueId> parts = g.Nodes(Split{2, {16, 16, 16}}, {g.Input({1, 16, 48})}, {{}, {}, {}});
    return g.Node(Concat{2}, {parts[2], parts[0], parts[1]});
  }));
}

}  // namespace

void AddMovedCases(std::vector<ConformanceCase>& cases) {
  for (const Heads& heads :
       {Heads{1, 5, 5, 2, 8}, {2, 6, 9, 3, 4}, {1, 17, 8, 1, 16}, {1, 1, 12, 4, 8}, {3, 4, 4, 2, 12}})
    AddAttention(cases, heads);
  AddOtherReaders(cases);
  AddParts(cases);
}

}  // namespace hearth::conformance
