// How this call talks to the user: verbosity, colours, and the kind of terminal. Plain values.
#pragma once

#include <string>
#include <string_view>

#include "cli/frame/global_options.h"
#include "sabath/environment.h"

namespace sabath::cli {

struct Presentation {
  bool verbose = false, quiet = false, json = false;
  bool live = false;       // standard error is a terminal that can redraw
  bool color = false;      // on standard error
  bool color_out = false;  // on standard output
  bool utf8 = false;
};

// The presentation that the options, the environment and the two streams allow.
[[nodiscard]] Presentation choose_presentation(const GlobalOptions& globals, const Environment& environment,
                                               bool stdout_is_terminal, bool stderr_is_terminal);

// Columns of the terminal at `fd`: COLUMNS if it is set, else what the terminal says, else 80; at least 20.
[[nodiscard]] unsigned terminal_width(int fd, const Environment& environment);

enum class Colour { red, green, yellow, cyan, bold, dim };
[[nodiscard]] std::string paint(std::string_view text, Colour colour, bool on);

}  // namespace sabath::cli
