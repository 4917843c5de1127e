// The memory of a session's outputs: where the runner makes them, where it has such a place, so that each stands once.
#ifndef HEARTH_FRONTENDS_API_SHOWN_OUTPUTS_H_
#define HEARTH_FRONTENDS_API_SHOWN_OUTPUTS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace hearth {

struct SessionData;

// From now on output() shows what runs leave in the memory that is returned: the runner's, else the session's own.
std::vector<std::span<std::byte>> ShowOwnRuns(SessionData& data);

// What output() shows becomes the session's own: before the runner goes, or writes something else.
void KeepShownOutputs(SessionData& data);

// Until the runner goes, the session is run, or one of both is called.
std::span<const std::byte> ShownOutput(const SessionData& data, size_t index);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_SHOWN_OUTPUTS_H_
