// environment.json: what a packed environment says of itself. Pure. Any thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "packing/interpreter_tree.h"
#include "packing/mend_packages.h"

namespace sabath {

inline constexpr const char* environment_note_name = "environment.json";
inline constexpr std::uint64_t environment_note_max = 16 << 20;

struct EnvironmentNote {
  std::string form;  // "venv", "prefix", "lock"
  InterpreterFacts facts;
  std::string machine;
  std::set<std::string> of_system, of_nodes;  // libraries
  std::vector<FoundPackage> packages;         // in the order of their names
  std::string place{};                        // the only one where it works; empty: any
};

[[nodiscard]] std::string environment_note_text(const EnvironmentNote& note);

}  // namespace sabath
