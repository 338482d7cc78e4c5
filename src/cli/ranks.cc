#include "cli/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "cli/render.h"
#include "cli/verb.h"
#include "mpi/library.h"
#include "sabath/error.h"

namespace sabath::cli {
namespace {

// Before the line is parsed: what is wrong with it is to be said once, and ends all ranks alike.
bool names_verb_of_ranks(const std::vector<std::string>& arguments) {
  const auto end = std::ranges::find(arguments, "--");
  if (std::find(arguments.begin(), end, "--alone") != end) return false;
  return std::any_of(arguments.begin(), end, [](const std::string& argument) {
    return std::ranges::any_of(verbs(), [&](const Verb* verb) { return verb->by_ranks && verb->name == argument; });
  });
}

}  // namespace

std::unique_ptr<MpiSession> start_ranks(const std::vector<std::string>& arguments, const Environment& environment) {
  if (!names_verb_of_ranks(arguments)) return nullptr;
  const unsigned launched = launched_ranks([&](const std::string& name) { return environment.get(name); });
  if (launched <= 1) return nullptr;
  auto session = MpiSession::start();
  if (session && session->comm().size() > 1) return session;
  const std::string text =
      render_warning(fmt::format("a launcher has started {} ranks, and {}: each works alone", launched,
                                 session ? fmt::format("this MPI ({}) finds one", mpi_library().value_or("unknown"))
                                         : std::string("this build has no MPI")),
                     false);
  std::fwrite(text.data(), 1, text.size(), stderr);
  return nullptr;
}

int agreed_code(Comm& comm, int code, const Signals& signals) {
  std::array<std::uint64_t, 3> most{comm.rank() == 0 ? static_cast<std::uint64_t>(code) : 0,
                                    static_cast<std::uint64_t>(code), static_cast<std::uint64_t>(signals.received())};
  comm.all_reduce(most, Reduction::maximum);
  const int chosen = static_cast<int>(most[0] != 0 ? most[0] : most[1]);
  const bool stopped = chosen == exit_code(FailureKind::interrupted) || chosen == exit_code(FailureKind::terminated);
  return stopped && most[2] != 0 ? exit_code_of_signal(static_cast<int>(most[2])) : chosen;
}

}  // namespace sabath::cli
