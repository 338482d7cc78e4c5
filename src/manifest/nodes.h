// What a Manifest holds: for the other files of this folder.
#pragma once

#include "manifest/manifest.h"
#include "manifest/pack.h"

namespace sabath {

struct Manifest::Nodes {
  Pack pack;
};

}  // namespace sabath
