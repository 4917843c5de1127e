// What most tests include, compiled once where HEARTH_PRECOMPILED_TESTS is on. A test includes what it uses all the
// same.
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
