#include "frontends/api/shown_outputs.h"

#include "frontends/api/session_data.h"

namespace hearth {

std::vector<std::span<std::byte>> ShowOwnRuns(SessionData& data) {
  std::vector<std::span<std::byte>> shown;
  data.lent_outputs.assign(data.outputs.size(), {});
  for (size_t k = 0; k < data.outputs.size(); ++k) {
    data.lent_outputs[k] = data.runner->LentOutput(k);
    const bool is_lent = !data.lent_outputs[k].empty();
    if (is_lent) std::vector<std::byte>().swap(data.outputs[k]);
    if (!is_lent) data.outputs[k].resize(data.model->outputs()[k].size_bytes);
    shown.push_back(is_lent ? data.lent_outputs[k] : std::span<std::byte>(data.outputs[k]));
  }
  return shown;
}

void KeepShownOutputs(SessionData& data) {
  for (size_t k = 0; k < data.lent_outputs.size(); ++k) {
    const std::span<std::byte> lent = data.lent_outputs[k];
    if (!lent.empty()) data.outputs[k].assign(lent.begin(), lent.end());
  }
  data.lent_outputs.clear();
}

std::span<const std::byte> ShownOutput(const SessionData& data, size_t index) {
  const bool is_lent = !data.lent_outputs.empty() && !data.lent_outputs[index].empty();
  return is_lent ? std::span<const std::byte>(data.lent_outputs[index]) : data.outputs[index];
}

}  // namespace hearth
