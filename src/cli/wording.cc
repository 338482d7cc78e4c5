#include "cli/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

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

std::string line_of(std::string_view verb) { return fmt::format("sabath {}", verb); }
std::string line_of_ranks(std::string_view verb) { return fmt::format("mpirun sabath {}", verb); }
std::string record_of(std::string_view verb) { return fmt::format("what `sabath {} --json` printed", verb); }

}  // namespace

constinit const Wording wording_of_lines{"line", false, option_of, line_of, line_of_ranks, record_of};

}  // namespace sabath::cli
