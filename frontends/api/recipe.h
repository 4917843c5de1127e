// The recipe beside a model's file, which says what the file does not: how pictures are scaled, what the classes are
// called, what the outputs mean.
//
//   {"mean": [0], "std": [255], "labels": ["background", "hair"], "meaning": "mask"}
#ifndef HEARTH_FRONTENDS_API_RECIPE_H_
#define HEARTH_FRONTENDS_API_RECIPE_H_

#include <string>

#include "hearth/model_metadata.h"
#include "hearth/status.h"

namespace hearth {

// NAME.hearth.json for the model's file NAME.
std::string RecipePath(const std::string& model_path);

// The recipe of a model's file; an empty one if there is none. kMalformedInput, which names the recipe: it is not as
// above, or too large.
Result<Recipe> ReadRecipe(const std::string& model_path);

// The text of a recipe, without what it does not say.
std::string TextOf(const Recipe& recipe);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_API_RECIPE_H_
