#include "frontends/model/model_interface.h"

#include <algorithm>

namespace hearth {

bool TensorDeclaration::IsDynamic() const {
  return !has_shape || std::find(shape.begin(), shape.end(), -1) != shape.end();
}

}  // namespace hearth
