#include "cli/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace sabath::cli {
namespace {

// An option has the name of the request's key, with - for _, except for these.
struct OtherName {
  std::string_view key, option;
};
constexpr std::array others{OtherName{"datasets", "-d"}, OtherName{"file", "-o"}, OtherName{"models", "-m"},
                            OtherName{"output", "-o"}, OtherName{"roots", "--root"}};

std::string option_of(std::string_view key) {
  if (const auto other = std::ranges::find(others, key, &OtherName::key); other != others.end()) {
    return std::string(other->option);
  }
  std::string option = "--" + std::string(key);
  std::ranges::replace(option, '_', '-');
  return option;
}

constexpr std::pair<std::string_view, std::string_view> modes[] = {
    {"supporting", "apply --list"}, {"want", "export --missing"}, {"where", "info --where"}};

std::string_view command_words(std::string_view verb) {
  const auto mode = std::ranges::find(modes, verb, &std::pair<std::string_view, std::string_view>::first);
  return mode == std::end(modes) ? verb : mode->second;
}

std::string line_of(std::string_view verb) { return fmt::format("sabath {}", command_words(verb)); }
std::string line_of_ranks(std::string_view verb) { return fmt::format("mpirun sabath {}", command_words(verb)); }
std::string record_of(std::string_view verb) {
  return fmt::format("what `sabath {} --json` printed", command_words(verb));
}

}  // namespace

std::string_view renamed_command(std::string_view former) noexcept {
  const std::string_view mode = command_words(former);
  return mode == former ? renamed_verb(former) : mode;
}

std::string_view command_meant_by(std::string_view word) noexcept {
  static constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"ls", "list"},    {"dir", "list"},   {"remove", "rm"}, {"delete", "rm"},     {"download", "fetch"},
      {"get", "fetch"},  {"pull", "fetch"}, {"train", "run"}, {"status", "doctor"}, {"modules", "site"},
      {"sbatch", "job"}, {"submit", "job"}, {"queue", "job"}, {"squeue", "job"},    {"scancel", "job"},
      {"cancel", "job"}, {"wait", "job"}};
  const auto found = std::ranges::find(words, word, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(words) ? std::string_view() : found->second;
}

constinit const Wording wording_of_lines{"line", false, option_of, line_of, line_of_ranks, record_of};

}  // namespace sabath::cli
