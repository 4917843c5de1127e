// Headers that most tests include, compiled once if HEARTH_PRECOMPILED_TESTS is on. Tests still include what they use.
#ifndef HEARTH_TESTS_TESTING_PRECOMPILED_H_
#define HEARTH_TESTS_TESTING_PRECOMPILED_H_

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/graph/graph.h"
#include "hearth/session.h"

#endif  // HEARTH_TESTS_TESTING_PRECOMPILED_H_
