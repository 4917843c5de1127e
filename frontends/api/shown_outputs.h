// The memory of a session's outputs: the runner's own where possible, so that each output exists only once.
#ifndef HEARTH_FRONTENDS_API_SHOWN_OUTPUTS_H_
#define HEARTH_FRONTENDS_API_SHOWN_OUTPUTS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace hearth {

struct SessionData;

// From now on output() shows the results of runs on the returned memory: the runner's, else the session's own.
std::vector<std::span<std::byte>> ShowOwnRuns(SessionData& data);

// Copies the outputs that output() shows to the session's memory, before the runner is destroyed or writes others.
void KeepShownOutputs(SessionData& data);

// Valid until the runner is destroyed, the session runs, or one of the two functions is called.
std::span<const std::byte> ShownOutput(const SessionData& data, size_t index);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SHOWN_OUTPUTS_H_
