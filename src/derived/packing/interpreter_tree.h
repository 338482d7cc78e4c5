// An interpreter with its library in a tree of its own: what belongs to it, how it is started there, what compiles the
// tree's modules. docs/environments.md, "Pack". One thread. Throws Error{access} for files that others can write,
// Error{invalid} for an interpreter that still uses another place, Error{command} where it does not work.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "packing/prefix_source.h"
#include "packing/tree_copy.h"
#include "software/programs.h"

namespace sabath {

struct InterpreterFacts {
  std::string python, implementation, abi, platform;  // "3.11.7", "cpython-311", "cpython-311-x86_64-linux-gnu", ...
};

struct CompiledModules {
  std::uint64_t compiled = 0, not_compiled = 0;
};

[[nodiscard]] inline std::string library_of(const PrefixSource& source) { return "lib/" + source.python; }
// Tests, caches and the like, of any tree that has this library.
[[nodiscard]] bool is_left_out_of_library(const PrefixSource& source, const std::string& path);

// The interpreter is started, and its library with it: no other user may have written them.
void refuse_exchangeable(Programs& programs, const PrefixSource& source);
// What belongs to the interpreter, of a prefix that may hold more; without packages.
void copy_interpreter(TreeCopy& copying, const PrefixSource& source);
void link_interpreter_names(const std::filesystem::path& top, const PrefixSource& source);
// CPython with a library of its own looks for lib/python311.zip in each directory above it first, also in /tmp, and
// takes the standard library from where it is. An empty archive here ends the search.
void write_landmark(const std::filesystem::path& top, const PrefixSource& source);

// Of the tree's own interpreter. It sees nothing of what a user has set, so that this changes no byte.
[[nodiscard]] InterpreterFacts ask_interpreter(Programs& programs, const std::filesystem::path& top,
                                               const PrefixSource& source);
// .pyc that stay valid when files get a new time, and that name no place, beside each module of `modules` (paths below
// `top`). `list` is a file for the names of the modules, which is gone then. The compiler imports the standard library
// alone. As many processes as cores; their number changes no byte.
[[nodiscard]] CompiledModules compile_modules(Programs& programs, const std::filesystem::path& top,
                                              const PrefixSource& source, const InterpreterFacts& facts,
                                              const std::vector<std::string>& modules,
                                              const std::filesystem::path& list);
// The path of a module's .pyc: "lib/python3.11/__pycache__/os.cpython-311.pyc".
[[nodiscard]] std::string compiled_path(const std::string& module, const InterpreterFacts& facts);

}  // namespace sabath
