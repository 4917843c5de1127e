// Ensembles of decision trees. All trees of all rows go down at once, one level after the other, by look-ups of what a
// node asks and where it leads (Nakandala et al., "A Tensor Compiler for Unified Machine Learning Prediction Serving",
// OSDI 2020, section 4.2); a leaf leads to itself.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "frontends/onnx/classic.h"

namespace hearth::onnx {
namespace {

// How a node compares a feature with its threshold.
constexpr std::array<std::pair<std::string_view, BinaryKind>, 6> kComparisons = {
    {{"BRANCH_LEQ", BinaryKind::kLessEqual},
     {"BRANCH_LT", BinaryKind::kLess},
     {"BRANCH_GTE", BinaryKind::kGreaterEqual},
     {"BRANCH_GT", BinaryKind::kGreater},
     {"BRANCH_EQ", BinaryKind::kEqual},
     {"BRANCH_NEQ", BinaryKind::kNotEqual}}};
constexpr int8_t kLeaf = -1;

// Nodes of all trees, by their place in the file.
struct Forest {
  explicit Forest(size_t nodes) { Resize(nodes); }
  // The new nodes are leaves, which lead to themselves.
  void Resize(size_t nodes) {
    const size_t first = features.size();
    for (auto* list : {&features, &thresholds, &yes, &no, &takes_nan}) list->resize(nodes);
    comparisons.resize(nodes, kLeaf);
    for (size_t k = first; k < nodes; ++k) yes[k] = no[k] = static_cast<double>(k);
  }
  bool IsLeaf(size_t node) const { return comparisons[node] == kLeaf; }

  std::vector<double> features, thresholds, yes, no, takes_nan;
  std::vector<int8_t> comparisons;  // rows of kComparisons
  std::vector<double> roots;
  int64_t depth = 0;
};

// Where the file has each node, which its tree and its number in that name.
class NodePlaces {
 public:
  static Result<NodePlaces> Of(const std::vector<int64_t>& trees, const std::vector<int64_t>& numbers) {
    NodePlaces made;
    for (size_t k = 0; k < numbers.size(); ++k) made.places_.emplace_back(std::pair(trees[k], numbers[k]), k);
    std::ranges::sort(made.places_);  // as files have them
    const auto twice = std::ranges::adjacent_find(made.places_, {}, &Place::first);
    if (twice == made.places_.end()) return made;
    return Error(StatusCode::kMalformedInput, "two nodes {} of tree {}", twice->first.second, twice->first.first);
  }
  Result<size_t> Find(int64_t tree, int64_t number) const {
    const auto found = std::ranges::lower_bound(places_, std::pair(tree, number), {}, &Place::first);
    if (found != places_.end() && found->first == std::pair(tree, number)) return found->second;
    return Error(StatusCode::kMalformedInput, "node {} of tree {} is missing", number, tree);
  }

 private:
  using Place = std::pair<std::pair<int64_t, int64_t>, size_t>;
  std::vector<Place> places_;
};

// The longest way from a root to a leaf. kMalformedInput if nodes lead back to an earlier one.
Result<int64_t> DepthOf(const Forest& forest) {
  constexpr int64_t kUnknown = -1, kOpen = -2;
  std::vector<int64_t> depths(forest.features.size(), kUnknown);
  std::vector<size_t> open(forest.roots.begin(), forest.roots.end());
  int64_t deepest = 0;
  while (!open.empty()) {
    const size_t node = open.back();
    if (forest.IsLeaf(node)) depths[node] = 0;
    if (depths[node] >= 0) {
      open.pop_back();
      continue;
    }
    int64_t below = 0;
    bool is_known = true;
    for (const double next : {forest.yes[node], forest.no[node]}) {
      const auto child = static_cast<size_t>(next);
      if (depths[child] == kOpen) return Error(StatusCode::kMalformedInput, "a tree whose nodes lead back to a node");
      if (forest.IsLeaf(child)) continue;
      is_known = is_known && depths[child] >= 0;
      below = std::max(below, depths[child]);
      if (depths[child] < 0) open.push_back(child);
    }
    depths[node] = is_known ? below + 1 : kOpen;
    deepest = std::max(deepest, depths[node]);
  }
  return deepest;
}

// Gives a node what it asks and where it leads.
Status SetNode(Forest& forest, size_t node, size_t comparison, int64_t feature, int32_t features) {
  if (feature < 0 || feature >= features) {
    return Error(StatusCode::kMalformedInput, "a node asks for feature {} of {}", feature, features);
  }
  forest.comparisons[node] = static_cast<int8_t>(comparison);
  forest.features[node] = static_cast<double>(feature);
  return Status::Ok();
}

// The first node of each tree is its root.
struct NumberedForest {
  Forest forest;
  NodePlaces places;
};
Result<NumberedForest> ForestOf(const OpView& op, int32_t features) {
  const std::vector<int64_t> trees = op.Ints("nodes_treeids"), numbers = op.Ints("nodes_nodeids"),
                             asked = op.Ints("nodes_featureids"), yes = op.Ints("nodes_truenodeids"),
                             no = op.Ints("nodes_falsenodeids"), nan = op.Ints("nodes_missing_value_tracks_true");
  const std::vector<std::string_view> modes = op.Texts("nodes_modes");
  HEARTH_ASSIGN(const std::vector<double> thresholds, RealsOf(op, "nodes_values"));
  const size_t count = numbers.size();
  const auto has_all = [&](const auto& list) { return list.size() == count; };
  if (count == 0 || !has_all(trees) || !has_all(asked) || !has_all(yes) || !has_all(no) || !has_all(thresholds) ||
      !has_all(modes) || (!nan.empty() && !has_all(nan))) {
    return Error(StatusCode::kMalformedInput, "{} nodes of trees, and lists of other lengths", count);
  }
  HEARTH_ASSIGN(NodePlaces places, NodePlaces::Of(trees, numbers));
  Forest forest(count);
  std::set<int64_t> begun;
  for (size_t k = 0; k < count; ++k) {
    if (begun.insert(trees[k]).second) forest.roots.push_back(static_cast<double>(k));
    if (modes[k] == "LEAF") continue;
    const auto* const found = std::ranges::find(kComparisons, modes[k], [](const auto& row) { return row.first; });
    if (found == kComparisons.end()) return Error(StatusCode::kUnsupported, "a node of mode {}", modes[k]);
    HEARTH_TRY(SetNode(forest, k, static_cast<size_t>(found - kComparisons.begin()), asked[k], features));
    forest.thresholds[k] = thresholds[k];
    forest.takes_nan[k] = !nan.empty() && nan[k] != 0 ? 1.0 : 0.0;
    for (const auto& [leads, list] : {std::pair(&forest.yes, &yes), std::pair(&forest.no, &no)}) {
      HEARTH_ASSIGN(const size_t child, places.Find(trees[k], (*list)[k]));
      (*leads)[k] = static_cast<double>(child);
    }
  }
  HEARTH_ASSIGN(forest.depth, DepthOf(forest));
  return NumberedForest{std::move(forest), std::move(places)};
}

// Which leaf of each tree each row of x reaches: [rows, trees].
Made LeavesOf(NodeWriter& to, const Forest& forest, ValueId x) {
  const auto nodes = static_cast<int32_t>(forest.features.size()), trees = static_cast<int32_t>(forest.roots.size());
  HEARTH_TRY(to.budget().ChargeOperators(12 * forest.depth));
  const DType real = to.desc(x).dtype;
  HEARTH_ASSIGN(const ValueId features, to.AddConstant({nodes}, DType::kInt32, forest.features));
  HEARTH_ASSIGN(const ValueId thresholds, to.AddConstant({nodes}, real, forest.thresholds));
  HEARTH_ASSIGN(const ValueId yes, to.AddConstant({nodes}, DType::kInt32, forest.yes));
  HEARTH_ASSIGN(const ValueId no, to.AddConstant({nodes}, DType::kInt32, forest.no));
  // Of each comparison that occurs, which nodes make it.
  std::vector<std::pair<BinaryKind, ValueId>> kinds;
  for (size_t kind = 0; kind < kComparisons.size(); ++kind) {
    std::vector<double> marks;
    for (const int8_t comparison : forest.comparisons) marks.push_back(comparison == static_cast<int8_t>(kind) ? 1 : 0);
    if (std::ranges::find(marks, 1.0) == marks.end()) continue;
    HEARTH_ASSIGN(const ValueId makes, to.AddConstant({nodes}, DType::kBool, marks));
    kinds.emplace_back(kComparisons[kind].second, makes);
  }
  ValueId takes_nan = kNoValue;
  if (std::ranges::find(forest.takes_nan, 1.0) != forest.takes_nan.end()) {
    HEARTH_ASSIGN(takes_nan, to.AddConstant({nodes}, DType::kBool, forest.takes_nan));
  }
  HEARTH_ASSIGN(const ValueId roots, to.AddConstant({1, trees}, DType::kInt32, forest.roots));
  HEARTH_ASSIGN(ValueId at, to.Add(BroadcastTo{{to.shape(x)[0], trees}}, {roots}));
  for (int64_t level = 0; level < forest.depth; ++level) {
    const auto of_node = [&](ValueId table) { return to.Add(Gather{0, 0}, {table, at}); };
    HEARTH_ASSIGN(const ValueId number, to.Add(Gather{1, 1}, {x, of_node(features)}));
    HEARTH_ASSIGN(const ValueId threshold, of_node(thresholds));
    Made is_so(kNoValue);
    for (const auto& [kind, makes] : kinds) {
      const Made compared = to.Add(kind, {number, threshold});
      const Made counts = kinds.size() == 1 ? compared : to.Add(BinaryKind::kLogicalAnd, {compared, of_node(makes)});
      is_so = is_so.ok() && *is_so == kNoValue ? counts : to.Add(BinaryKind::kLogicalOr, {is_so, counts});
    }
    if (takes_nan != kNoValue) {
      const Made is_nan = to.Add(BinaryKind::kNotEqual, {number, number});
      const Made taken = to.Add(BinaryKind::kLogicalAnd, {is_nan, of_node(takes_nan)});
      is_so = to.Add(BinaryKind::kLogicalOr, {is_so, taken});
    }
    HEARTH_ASSIGN(at, to.Add(Select{}, {is_so, of_node(yes), of_node(no)}));
  }
  return at;
}

// What leaves say.
struct Weights {
  static Result<Weights> Room(NodeWriter& to, size_t nodes, int64_t columns) {
    Weights made{.table = {}, .columns = static_cast<int32_t>(columns)};
    const size_t size = nodes * static_cast<size_t>(columns);
    if (!to.budget().ChargeMade(4 * size)) return ReadingBudget::TooMuchMade("its leaves");
    made.table.resize(size);
    return made;
  }
  Status Add(size_t leaf, int64_t column, double number) {
    if (column < 0 || column >= columns)
      return Error(StatusCode::kMalformedInput, "a weight of column {} of {}", column, columns);
    table[leaf * static_cast<size_t>(columns) + static_cast<size_t>(column)] += number;
    has_negative = has_negative || number < 0;
    return Status::Ok();
  }

  std::vector<double> table;  // [nodes, columns]
  int32_t columns = 1;
  bool has_negative = false;
};

// That of attributes PREFIX_treeids, PREFIX_nodeids, PREFIX_ids and PREFIX_weights. `is_single`: of one column,
// whatever column the file names.
Result<Weights> WeightsOf(const OpView& op, const NumberedForest& numbered, const std::string& prefix, int64_t columns,
                          bool is_single) {
  const std::vector<int64_t> trees = op.Ints(prefix + "_treeids"), nodes = op.Ints(prefix + "_nodeids"),
                             ids = op.Ints(prefix + "_ids");
  HEARTH_ASSIGN(const std::vector<double> numbers, RealsOf(op, prefix + "_weights"));
  const size_t count = numbers.size();
  if (trees.size() != count || nodes.size() != count || ids.size() != count) {
    return Error(StatusCode::kMalformedInput, "{} weights of leaves, and lists of other lengths", count);
  }
  HEARTH_ASSIGN(Weights made, Weights::Room(op.to(), numbered.forest.features.size(), is_single ? 1 : columns));
  for (size_t k = 0; k < count; ++k) {
    HEARTH_ASSIGN(const size_t leaf, numbered.places.Find(trees[k], nodes[k]));
    if (ids[k] < 0 || ids[k] >= columns)
      return Error(StatusCode::kMalformedInput, "a weight of column {} of {}", ids[k], columns);
    HEARTH_TRY(made.Add(leaf, is_single ? 0 : ids[k], numbers[k]));
  }
  return made;
}

// Of each row what its leaves say together: [rows, columns].
Made SumsOf(NodeWriter& to, const Forest& forest, ValueId x, const Weights& weights, ReduceKind kind) {
  const auto nodes = static_cast<int32_t>(forest.features.size());
  const bool is_single = weights.columns == 1;
  const Shape shape = is_single ? Shape{nodes} : Shape{nodes, weights.columns};
  const Made leaves = LeavesOf(to, forest, x);
  const Made said = to.Add(Gather{0, 0}, {to.AddConstant(shape, to.desc(x).dtype, weights.table), leaves});
  return to.Add(Reduce{.kind = kind, .axes_mask = 1u << 1, .keep_dims = is_single}, {said});
}

// With the number of the attribute base_values for each column.
Made WithBase(const OpView& op, const Made& sums) {
  HEARTH_ASSIGN(const std::vector<double> base, RealsOf(op, "base_values"));
  HEARTH_ASSIGN(const ValueId scores, sums);
  if (base.empty()) return scores;
  NodeWriter& to = op.to();
  const int32_t columns = to.shape(scores)[1];
  if (ssize(base) != columns)
    return Error(StatusCode::kUnsupported, "{} base_values for {} columns", base.size(), columns);
  return to.Add(BinaryKind::kAdd, {scores, to.AddConstant({columns}, to.desc(scores).dtype, base)});
}

Results ReadTreeRegressor(OpView& op, GraphWriter& to) {
  static constexpr std::array<std::pair<std::string_view, ReduceKind>, 4> kKinds = {{{"SUM", ReduceKind::kSum},
                                                                                     {"AVERAGE", ReduceKind::kMean},
                                                                                     {"MIN", ReduceKind::kMin},
                                                                                     {"MAX", ReduceKind::kMax}}};
  const std::string_view name = op.Text("aggregate_function", "SUM");
  const auto* const kind = std::ranges::find(kKinds, name, [](const auto& row) { return row.first; });
  const int64_t targets = op.Int("n_targets", 1);
  if (kind == kKinds.end() || targets < 1 || targets > (1 << 24) || (targets > 1 && kind - kKinds.begin() > 1)) {
    return Error(StatusCode::kUnsupported, "aggregate_function={} of {} targets", name, targets);
  }
  HEARTH_ASSIGN(const ValueId x, RowsOf(op, to));
  HEARTH_ASSIGN(const NumberedForest numbered, ForestOf(op, to.shape(x)[1]));
  HEARTH_ASSIGN(const Weights weights, WeightsOf(op, numbered, "target", targets, targets == 1));
  const Made sums = WithBase(op, SumsOf(to, numbered.forest, x, weights, kind->second));
  return Plain(to.AddCast(Transformed(to, sums, PostTransform(op)), DType::kFloat32));
}

Results ReadTreeClassifier(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, RowsOf(op, to));
  HEARTH_ASSIGN(const NumberedForest numbered, ForestOf(op, to.shape(x)[1]));
  HEARTH_ASSIGN(const std::vector<int64_t> labels, ClassesOf(op));
  const int64_t classes = ssize(labels);
  const std::vector<int64_t> ids = op.Ints("class_ids");
  // Two classes, of which leaves name one: their sum speaks for the second. If they name the first, it has the rest.
  const bool is_single = classes == 2 && std::ranges::adjacent_find(ids, std::not_equal_to()) == ids.end();
  const First first = is_single && !ids.empty() && ids[0] == 1 ? First::kZero : First::kRest;
  HEARTH_ASSIGN(const Weights weights, WeightsOf(op, numbered, "class", classes, is_single));
  const Made sums = WithBase(op, SumsOf(to, numbered.forest, x, weights, ReduceKind::kSum));
  return Classified(op, to, sums, weights.has_negative ? Single::kDifference : Single::kProbability, first);
}

// A node that asks whether a feature is one of a list: a chain of nodes that ask for one of them each.
Status AddMembers(Forest& forest, size_t node, std::span<const double> members) {
  constexpr size_t kIsEqual = 4;
  if (members.empty()) return Error(StatusCode::kMalformedInput, "a node that asks for members of no list");
  const double no = forest.no[node];
  for (size_t k = 0; k < members.size(); ++k) {
    const size_t at = k == 0 ? node : forest.features.size();
    if (k > 0) {
      forest.Resize(at + 1);
      forest.features[at] = forest.features[node];
      forest.yes[at] = forest.yes[node];
      forest.takes_nan[at] = forest.takes_nan[node];
    }
    forest.comparisons[at] = static_cast<int8_t>(kIsEqual);
    forest.thresholds[at] = members[k];
    forest.no[at] = k + 1 < members.size() ? static_cast<double>(forest.features.size()) : no;
  }
  return Status::Ok();
}

// The form of version 5, which lists nodes and leaves apart: leaves follow the nodes here.
Results ReadTreeEnsemble(OpView& op, GraphWriter& to) {
  static constexpr std::array<ReduceKind, 4> kKinds = {ReduceKind::kMean, ReduceKind::kSum, ReduceKind::kMin,
                                                       ReduceKind::kMax};
  static constexpr std::array<std::string_view, 5> kTransforms = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                                  "PROBIT"};
  HEARTH_ASSIGN(const ValueId x, RowsOf(op, to));
  HEARTH_ASSIGN(const std::vector<double> splits, RealsOf(op, "nodes_splits"));
  HEARTH_ASSIGN(const std::vector<double> modes, RealsOf(op, "nodes_modes"));
  HEARTH_ASSIGN(const std::vector<double> numbers, RealsOf(op, "leaf_weights"));
  HEARTH_ASSIGN(const std::vector<double> members, RealsOf(op, "membership_values"));
  const std::vector<int64_t> asked = op.Ints("nodes_featureids"), nan = op.Ints("nodes_missing_value_tracks_true"),
                             targets = op.Ints("leaf_targetids"), roots = op.Ints("tree_roots");
  const int64_t kind = op.Int("aggregate_function", 1), columns = op.Int("n_targets", 1);
  const int64_t transform = op.Int("post_transform", 0);
  const size_t nodes = asked.size(), leaves = numbers.size();
  if (kind < 0 || kind > 3 || transform < 0 || transform > 4 || columns < 1 || columns > (1 << 24) ||
      (columns > 1 && kind > 1)) {
    return Error(StatusCode::kUnsupported, "aggregate_function={} of {} targets, post_transform={}", kind, columns,
                 transform);
  }
  Forest forest(nodes + leaves);
  auto member = members.begin();
  for (const auto& [leads, way] : {std::pair(&forest.yes, "true"), std::pair(&forest.no, "false")}) {
    const std::vector<int64_t> next = op.Ints(fmt::format("nodes_{}nodeids", way)),
                               ends = op.Ints(fmt::format("nodes_{}leafs", way));
    if (next.size() != nodes || ends.size() != nodes)
      return Error(StatusCode::kMalformedInput, "{} nodes, and lists of other lengths", nodes);
    for (size_t k = 0; k < nodes; ++k) {
      if (next[k] < 0 || next[k] >= static_cast<int64_t>(ends[k] != 0 ? leaves : nodes))
        return Error(StatusCode::kMalformedInput, "node {} leads to {}, which is missing", k, next[k]);
      (*leads)[k] = static_cast<double>(next[k] + (ends[k] != 0 ? ssize(asked) : 0));
    }
  }
  if (splits.size() != nodes || modes.size() != nodes || targets.size() != leaves || roots.empty() ||
      (!nan.empty() && nan.size() != nodes)) {
    return Error(StatusCode::kMalformedInput, "{} nodes and {} leaves, and lists of other lengths", nodes, leaves);
  }
  for (size_t k = 0; k < nodes; ++k) {
    constexpr double kIsMember = 6;
    if (!(modes[k] >= 0 && modes[k] <= kIsMember))
      return Error(StatusCode::kUnsupported, "a node of mode {}", modes[k]);
    HEARTH_TRY(SetNode(forest, k, static_cast<size_t>(modes[k]), asked[k], to.shape(x)[1]));
    forest.thresholds[k] = splits[k];
    forest.takes_nan[k] = !nan.empty() && nan[k] != 0 ? 1.0 : 0.0;
    if (modes[k] != kIsMember) continue;
    const auto end = std::find_if(member, members.end(), [](double number) { return std::isnan(number); });
    HEARTH_TRY(AddMembers(forest, k, {member, end}));
    member = end == members.end() ? end : end + 1;  // lists end with NaN
  }
  std::set<int64_t> begun;
  for (const int64_t root : roots) {
    if (root < 0 || root >= ssize(asked) || !begun.insert(root).second)
      return Error(StatusCode::kMalformedInput, "no root {}, or another tree's", root);
    forest.roots.push_back(static_cast<double>(root));
  }
  HEARTH_ASSIGN(forest.depth, DepthOf(forest));
  HEARTH_ASSIGN(Weights weights, Weights::Room(to, forest.features.size(), columns));
  for (size_t k = 0; k < leaves; ++k) HEARTH_TRY(weights.Add(nodes + k, targets[k], numbers[k]));
  const Made sums = SumsOf(to, forest, x, weights, kKinds[static_cast<size_t>(kind)]);
  return Plain(Transformed(to, sums, kTransforms[static_cast<size_t>(transform)]));
}

}  // namespace

constexpr OperatorRow kTreeRows[] = {
    {"TreeEnsemble", ReadTreeEnsemble, 0, kClassic},
    {"TreeEnsembleClassifier", ReadTreeClassifier, 0, kClassic},
    {"TreeEnsembleRegressor", ReadTreeRegressor, 0, kClassic},
};
const OperatorList kTreeOperators = kTreeRows;

}  // namespace hearth::onnx
