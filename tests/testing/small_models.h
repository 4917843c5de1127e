// Models of a few hundred bytes that hold what readers must take apart.
#ifndef HEARTH_TESTS_TESTING_SMALL_MODELS_H_
#define HEARTH_TESTS_TESTING_SMALL_MODELS_H_

#include <cstddef>
#include <vector>

namespace hearth {

// Open shapes, a signature, a sparse filter, state, and a shape that is computed from another.
std::vector<std::byte> ModelOfAllKinds();

// A loop of two turns whose body chooses between its argument and twice that.
std::vector<std::byte> ModelWithALoop();

}  // namespace hearth

#endif  // HEARTH_TESTS_TESTING_SMALL_MODELS_H_
