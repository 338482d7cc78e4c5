#include "cli/frame/presentation.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace sabath::cli {
namespace {

// The locale as POSIX chooses it: LC_ALL, LC_CTYPE, LANG; the first that is set.
bool locale_is_utf8(const Environment& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const auto locale = environment.get(name)) {
      const std::string text = to_lower(*locale);
      return text.find("utf-8") != std::string::npos || text.find("utf8") != std::string::npos;
    }
  }
  return false;
}

}  // namespace

Presentation choose_presentation(const GlobalOptions& globals, const Environment& environment, bool stdout_is_terminal,
                                 bool stderr_is_terminal) {
  Presentation presentation;
  const std::string terminal = environment.get("TERM").value_or("dumb");
  presentation.verbose = globals.verbose;
  presentation.quiet = globals.quiet;
  presentation.json = globals.json;
  presentation.live = stderr_is_terminal && terminal != "dumb";
  const bool allowed =
      globals.color == "always" || (globals.color == "auto" && !environment.get("NO_COLOR") && terminal != "dumb");
  presentation.color = allowed && (stderr_is_terminal || globals.color == "always");
  presentation.color_out = allowed && (stdout_is_terminal || globals.color == "always");
  presentation.utf8 = locale_is_utf8(environment);
  return presentation;
}

unsigned terminal_width(int fd, const Environment& environment) {
  unsigned columns = 0;
  if (const auto text = environment.get("COLUMNS")) {
    std::from_chars(text->data(), text->data() + text->size(), columns);
  }
  struct winsize size {};
  if (columns == 0 && ::ioctl(fd, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return columns == 0 ? 80 : std::clamp(columns, 20U, 1000U);
}

std::string paint(std::string_view text, Colour colour, bool on) {
  if (!on) return std::string(text);
  const auto code = [colour]() -> const char* {
    switch (colour) {
      case Colour::red:
        return "31";
      case Colour::green:
        return "32";
      case Colour::yellow:
        return "33";
      case Colour::cyan:
        return "36";
      case Colour::bold:
        return "1";
      case Colour::dim:
        break;
    }
    return "2";
  };
  return std::string("\x1b[") + code() + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace sabath::cli
