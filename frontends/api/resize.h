// Other input shapes for a session that is open.
#ifndef HEARTH_FRONTENDS_API_RESIZE_H_
#define HEARTH_FRONTENDS_API_RESIZE_H_

#include <map>
#include <string>
#include <vector>

#include "frontends/api/session_data.h"

namespace hearth {

using InputShapes = std::map<std::string, std::vector<int32_t>>;

// Session::Resize. On an error the session is unchanged.
Status ResizeSession(SessionData& data, const InputShapes& shapes);

// Session::ResizeBatch.
Status ResizeBatchOf(SessionData& data, int32_t batch);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_RESIZE_H_
