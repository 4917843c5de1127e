#include "core/emit/statement.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/contains.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/types.h"

namespace hearth {
namespace {

constexpr std::string_view kPReluText = "vselect_lt(a, splat4(0.0f), a * b, a)";

// Values of defines that are neither numbers nor functions.
constexpr std::string_view kDefineWords[] = {"OW",     "int",        "int4",       "float",         "float4",
                                             "splat4", "splat_int4", "REAL_VALUE", "INTEGER_VALUE", "splat4(0.0f)"};

struct FormRow {
  StatementForm form;
  std::string_view text;  // $f stands for the function
  size_t arguments;
};
constexpr FormRow kForms[] = {
    {StatementForm::kNothing, "", 0},
    {StatementForm::kUnary, "v = $f;", 0},
    {StatementForm::kSlopedUnary, "{ float alpha = $0; v = $f; }", 1},
    {StatementForm::kPair, "", 1},
    {StatementForm::kAdd, "v = v + $0_load(i);", 1},
    {StatementForm::kClamp, "v = vclamp(v, splat4($0), splat4($1));", 2},
    {StatementForm::kIntegerClamp,
     "v = vselect_lt(v, splat_int4($0), splat_int4($0), v); v = vselect_lt(splat_int4($1), v, splat_int4($1), v);", 2},
    {StatementForm::kIntegerWrap, "v = ((v - splat_int4($0)) & splat_int4($1)) + splat_int4($0);", 2},
    {StatementForm::kLimit, "v = vclamp(v, splat4(0.0f - $0), splat4($0));", 1},
    {StatementForm::kClearTail,
     "v = vselect_lt(make_float4(0.5f, 1.5f, 2.5f, 3.5f) + splat4(to_float(i / $0 * 4)), splat4(to_float($1)), v, "
     "splat4(0.0f));",
     2},
    {StatementForm::kAppendChannels,
     "v = splat4($3); if (i < $0) v = x_load(i); if (i >= $1 && i < $0) v = make_float4(v.x, $2 > 1 ? v.y : $3, "
     "$2 > 2 ? v.z : $3, $3);",
     4},
    {StatementForm::kRoundToHalf, "v = vhalf(v);", 0},
    {StatementForm::kRoundToSmallGrid, "v = vround_small(vsaturate(v * $1, splat4($2), splat4($3))) * $0;", 4},
    {StatementForm::kRoundToGrid, "v = vround_away(vsaturate(v * $1, splat4($2), splat4($3))) * $0;", 4},
};

static_assert(AreInOrder(kForms, &FormRow::form) &&
              std::size(kForms) == static_cast<size_t>(StatementForm::kRoundToGrid) + 1);

std::string LoadOf(const EpilogueStatement& statement) {
  const std::string& name = statement.arguments[0];
  switch (statement.reach) {
    case Reach::kOneElement: return fmt::format("{}({}_load(0).x)", statement.integers ? "splat_int4" : "splat4", name);
    case Reach::kPerChannel: return fmt::format("{}_load(i / {})", name, statement.arguments[1]);
    case Reach::kPerPixel: return fmt::format("splat4({}_load(i % {}).x)", name, statement.arguments[1]);
    case Reach::kRepeated:
      return fmt::format("{0}_load(i / {1} * {2} + i % {2})", name, statement.arguments[1], statement.arguments[2]);
    case Reach::kSame: break;
  }
  return fmt::format("{}_load(i)", name);
}

std::string PairText(const EpilogueStatement& statement) {
  return fmt::format("{{ {0} {1} = {2}; {0} {3} = {4}; v = {5}; }}", statement.integers ? "int4" : "float4",
                     statement.other_first ? "b" : "a", statement.from_x ? "x_load(i)" : "v",
                     statement.other_first ? "a" : "b", LoadOf(statement), TextOf(statement.function));
}

template <typename Row>
std::string_view RowText(std::span<const Row> rows, uint8_t row, bool of_integers) {
  if (row >= rows.size()) return {};
  return of_integers ? rows[row].integer_text : rows[row].text;
}

bool IsNumber(std::string_view value) {
  return !value.empty() && value.size() <= 6 &&
         std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool IsCast(std::string_view value) {
  for (int dtype = 0; dtype <= static_cast<int>(kLastDType); ++dtype) {
    const auto to = static_cast<DType>(dtype);
    if (value == CastText(to, true) || value == CastText(to, false)) return true;
  }
  return false;
}

bool IsFunction(std::string_view value) {
  if (value.size() < 2 || value.front() != '(' || value.back() != ')') return false;
  const std::string_view text = value.substr(1, value.size() - 2);
  return text == kPReluText || std::ranges::any_of(BinaryRows(), [text](const BinaryRow& row) {
           return !text.empty() && (text == row.text || text == row.integer_text);
         });
}

}  // namespace

ElementFunction ElementFunction::Of(UnaryKind kind, bool of_integers) {
  return {of_integers ? Table::kIntegerUnary : Table::kUnary, static_cast<uint8_t>(kind)};
}

ElementFunction ElementFunction::Of(BinaryKind kind, bool of_integers) {
  return {of_integers ? Table::kIntegerBinary : Table::kBinary, static_cast<uint8_t>(kind)};
}

std::string_view TextOf(const ElementFunction& function) {
  switch (function.table) {
    case ElementFunction::Table::kNone: return {};
    case ElementFunction::Table::kUnary: return RowText(UnaryRows(), function.row, false);
    case ElementFunction::Table::kIntegerUnary: return RowText(UnaryRows(), function.row, true);
    case ElementFunction::Table::kBinary: return RowText(BinaryRows(), function.row, false);
    case ElementFunction::Table::kIntegerBinary: return RowText(BinaryRows(), function.row, true);
    case ElementFunction::Table::kPRelu: return kPReluText;
  }
  return {};
}

bool IsComplete(const EpilogueStatement& statement) {
  size_t arguments = kForms[static_cast<size_t>(statement.form)].arguments;
  if (statement.form == StatementForm::kPair && statement.reach >= Reach::kPerChannel) ++arguments;
  if (statement.form == StatementForm::kPair && statement.reach == Reach::kRepeated) ++arguments;
  const bool has_function = statement.form == StatementForm::kUnary || statement.form == StatementForm::kSlopedUnary ||
                            statement.form == StatementForm::kPair;
  return statement.arguments.size() >= arguments && (!has_function || !TextOf(statement.function).empty());
}

std::string TextOf(const EpilogueStatement& statement) {
  if (statement.form == StatementForm::kPair) return PairText(statement);
  const std::string_view form = kForms[static_cast<size_t>(statement.form)].text;
  std::string text;
  for (size_t at = 0; at < form.size(); ++at) {
    if (form[at] != '$') {
      text += form[at];
      continue;
    }
    ++at;
    text += form[at] == 'f' ? TextOf(statement.function) : std::string_view(statement.arguments[form[at] - '0']);
  }
  return text;
}

std::string_view CastText(DType to, bool from_real) {
  switch (to) {
    case DType::kBool:
      return from_real ? "(splat4(1.0f) - vequal(x_load(at), splat4(0.0f)))"
                       : "(splat4(1.0f) - vequal(x_load(at), splat_int4(0)))";
    // Real numbers are clamped and NaN becomes the highest, as in TFLite: negating twice makes it so. Integers wrap.
    case DType::kUInt8:
      return from_real ? "to_int4(splat4(0.0f) - vsaturate(splat4(0.0f) - x_load(at), splat4(-255.0f), splat4(0.0f)))"
                       : "(x_load(at) & splat_int4(255))";
    case DType::kUInt16:
      return from_real ? "to_int4(splat4(0.0f) - vsaturate(splat4(0.0f) - x_load(at), splat4(-65535.0f), splat4(0.0f)))"
                       : "(x_load(at) & splat_int4(65535))";
    case DType::kInt8:
      return from_real ? "to_int4(splat4(0.0f) - vsaturate(splat4(0.0f) - x_load(at), splat4(-127.0f), splat4(128.0f)))"
                       : "((x_load(at) << 24) >> 24)";
    case DType::kInt16:
      return from_real
                 ? "to_int4(splat4(0.0f) - vsaturate(splat4(0.0f) - x_load(at), splat4(-32767.0f), splat4(32768.0f)))"
                 : "((x_load(at) << 16) >> 16)";
    case DType::kInt32:
    case DType::kInt64: return from_real ? "to_int4_sat(x_load(at))" : "x_load(at)";
    default: return from_real ? "x_load(at)" : "to_float4(x_load(at))";
  }
}

std::string DefineValueOf(const ElementFunction& function) {
  return fmt::format("({})", TextOf(function));
}

bool IsDefineValue(std::string_view value) {
  return IsNumber(value) || Contains(kDefineWords, value) || IsCast(value) || IsFunction(value);
}

}  // namespace hearth
