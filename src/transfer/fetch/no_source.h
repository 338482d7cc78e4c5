// Where no source gives an asset: it has none that a program can read, or none answers though the content is here.
// Free functions; one thread.
#pragma once

#include "sabath/error.h"
#include "sabath/recipe.h"
#include "store/store.h"

namespace sabath {

// Throws Error{access} with what a person has to do, Error{usage} for code beside its recipe.
void refuse_without_sources(const Recipe& recipe);

// Rewritten or other hosts gave it on the login node, say, and a job asks without those settings: the hint of `failure`
// then is how it is taken.
void name_what_is_here(Store& store, const Recipe& recipe, Failure& failure);

}  // namespace sabath
