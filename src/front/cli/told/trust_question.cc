#include "cli/told/trust_question.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

constexpr int poll_ms = 100;
constexpr std::size_t answer_bytes_max = 100;

// One line of standard input; empty at its end, or if the user wants to stop.
std::string read_answer(const Context& context) {
  std::string line;
  while (!context.stop.stop_requested() && line.size() < answer_bytes_max) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, 1, poll_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    char c = 0;
    if (ready < 0 || ::read(STDIN_FILENO, &c, 1) != 1) return {};
    if (c == '\n') return line;
    line += c;
  }
  return {};
}

}  // namespace

bool can_ask(const Context& context) {
  return !context.presentation.json && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

std::string ask_trust(const Context& context, const std::string& name, const std::string& about) {
  std::fputs(fmt::format("{} brings code that you have not trusted:\n", printable(name)).c_str(), stderr);
  for (std::size_t begin = 0; begin < about.size();) {
    const std::size_t end = std::min(about.find('\n', begin), about.size());
    std::fputs(("  " + about.substr(begin, end - begin) + "\n").c_str(), stderr);
    begin = end + 1;
  }
  std::fputs("run it? [o]nce, always this [c]ommit, all of this origin [origin], [N]o: ", stderr);
  const std::string answer = to_lower(trim(read_answer(context)));
  if (answer == "o" || answer == "once") return "once";
  if (answer == "c" || answer == "commit") return "commit";
  return answer == "origin" ? "origin" : "";
}

}  // namespace sabath::cli
