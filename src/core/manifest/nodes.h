// A Manifest's state: for the other files of this folder.
#pragma once

#include "manifest/manifest.h"
#include "manifest/node_file.h"

namespace sabath {

struct Manifest::Nodes {
  NodeFile pack;
};

}  // namespace sabath
