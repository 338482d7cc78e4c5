// The command line's spelling of the names in remedies (base/wording.h): "max_size" is --max-size, and "fetch" is
// `sabath fetch`.
#pragma once

#include "base/wording.h"

namespace sabath::cli {

extern const Wording wording_of_lines;

// What the command is called now that was called `former`; empty: none was. A verb of the library that is a mode of a
// command has its own name there, and that of the mode here.
[[nodiscard]] std::string_view renamed_command(std::string_view former) noexcept;

// The command that does what other programs call by this word: "list" for "ls"; empty: none.
[[nodiscard]] std::string_view command_meant_by(std::string_view word) noexcept;

}  // namespace sabath::cli
