#include "hearth/session_option.h"

#include "cache/files/folder.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "frontends/api/option_table.h"

namespace hearth {
namespace {

struct FromText {
  SessionOptions& options;
  std::string_view value;
  const OptionRow& row;

  Status Check(std::string_view word) const {
    return row.check == nullptr || word.empty() ? Status::Ok() : row.check(word);
  }

  Status operator()(const TextOption& option) const {
    HEARTH_TRY(Check(value));
    option.field(options) = value;
    return Status::Ok();
  }

  Status operator()(const SwitchOption& option) const {
    const bool is_on = value == "on" || value == "true" || value == "1";
    if (!is_on && value != "off" && value != "false" && value != "0")
      return Error(StatusCode::kInvalidArgument, "'{}' is neither on nor off", value);
    option.field(options) = is_on;
    return Status::Ok();
  }

  Status operator()(const NumberOption& option) const {
    int number = 0;
    if (!NumberFrom(value, number) || number < option.least || number > option.most) {
      return Error(StatusCode::kInvalidArgument, "'{}' is not a number from {} to {}", value, option.least,
                   option.most);
    }
    option.field(options) = number;
    return Status::Ok();
  }

  Status operator()(const SizeOption& option) const {
    HEARTH_ASSIGN(option.field(options), ParseSizeBytes(value));
    return Status::Ok();
  }

  Status operator()(const ListOption& option) const {
    std::vector<std::string> list;
    for (const std::string_view part : PartsOf(value, option.separator)) {
      HEARTH_TRY(Check(part));
      if (!part.empty()) list.emplace_back(part);
    }
    option.field(options) = std::move(list);
    return Status::Ok();
  }
};

}  // namespace

const std::vector<SessionOptionName>& SessionOptionNames() {
  static const std::vector<SessionOptionName> names = [] {
    std::vector<SessionOptionName> all;
    for (const OptionRow& row : OptionRows()) all.push_back({row.name, OptionValues(row)});
    return all;
  }();
  return names;
}

Status SetSessionOption(SessionOptions& options, std::string_view name, std::string_view value) {
  if (const OptionRow* row = FindOption(name)) {
    const Status status =
        std::visit(FromText{options, value, *row}, row->kind).Within(fmt::format("option '{}'", name));
    return status.ok() ? status : Error(status.code(), "{}; give {}", status.message(), OptionValues(*row));
  }
  std::vector<std::string> names;
  for (const OptionRow& row : OptionRows()) names.emplace_back(row.name);
  return NoSuchOption(name, names);
}

}  // namespace hearth
