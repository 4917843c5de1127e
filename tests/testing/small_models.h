// Models of a few hundred bytes with everything that readers must take apart.
#ifndef HEARTH_TESTS_TESTING_SMALL_MODELS_H_
#define HEARTH_TESTS_TESTING_SMALL_MODELS_H_

#include <cstddef>
#include <vector>

namespace hearth {

// Open shapes, a signature, a sparse filter, state, and a shape that is computed from another tensor.
std::vector<std::byte> ModelOfAllKinds();

// A loop of two iterations whose body selects its argument or twice that.
std::vector<std::byte> ModelWithALoop();

}  // namespace hearth

#endif  // HEARTH_TESTS_TESTING_SMALL_MODELS_H_
