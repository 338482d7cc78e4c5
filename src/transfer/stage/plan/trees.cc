#include "stage/plan/trees.h"

namespace sabath::trees {
namespace {

// The second tree stands on its head: places are counted from the last member. Its own inverse.
unsigned turned(unsigned tree, unsigned members, unsigned place) { return tree == 0 ? place : members - 1 - place; }

}  // namespace

unsigned head(unsigned tree, unsigned members) { return turned(tree, members, 0); }

std::optional<unsigned> parent(unsigned tree, unsigned members, unsigned member) {
  const unsigned place = turned(tree, members, member);
  if (place == 0) return std::nullopt;
  return turned(tree, members, (place - 1) / 2);
}

std::vector<unsigned> children(unsigned tree, unsigned members, unsigned member) {
  std::vector<unsigned> all;
  const unsigned place = turned(tree, members, member);
  for (unsigned child = 2 * place + 1; child <= 2 * place + 2 && child < members; ++child) {
    all.push_back(turned(tree, members, child));
  }
  return all;
}

}  // namespace sabath::trees
