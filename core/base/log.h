// Sends messages of Hearth's own code to the sink of hearth/log.h.
#ifndef HEARTH_CORE_BASE_LOG_H_
#define HEARTH_CORE_BASE_LOG_H_

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/log.h"

namespace hearth {

// Whether a message of this level is logged, for messages that are expensive to make.
bool IsLogged(LogLevel level);

// False if the message is not logged.
bool Log(LogLevel level, std::string_view message);

// Logs to standard error only if HEARTH_LOG is set. For a plugin, whose host has its own log.
void SilenceDefaultLog();

// Warnings to a user, one for each kind of trouble.
class Warnings {
 public:
  // Keeps `text` unless a warning of this kind came before.
  void Add(std::string_view kind, std::string text) {
    if (kinds_.emplace(kind).second) texts_.push_back(std::move(text));
  }
  std::vector<std::string> Take() { return std::exchange(texts_, {}); }

 private:
  std::set<std::string, std::less<>> kinds_;
  std::vector<std::string> texts_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_LOG_H_
