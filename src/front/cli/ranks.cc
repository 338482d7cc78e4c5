#include "cli/ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <thread>

#include "cli/show/render.h"
#include "cli/verb.h"
#include "sabath/error.h"
#include "verbs/version.h"

namespace sabath::cli {
namespace {

// Reads the raw words: a fault in the line must be printed once and end all ranks alike, so MPI starts before parsing.
bool names_verb_of_ranks(const std::vector<std::string>& arguments) {
  const auto end = std::ranges::find(arguments, "--");
  if (std::find(arguments.begin(), end, "--alone") != end) return false;
  return std::any_of(arguments.begin(), end, [](const std::string& argument) {
    return std::ranges::any_of(verbs(), [&](const Verb* verb) { return verb->by_ranks && verb->name == argument; });
  });
}

constexpr unsigned start_seconds = 300;  // thousands of nodes have been seen to take one minute

unsigned start_seconds_max(const Environment& environment) {
  const auto text = environment.get("SABATH_MPI_START_SECONDS");
  if (!text) return start_seconds;
  unsigned seconds = 0;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (problem == std::errc() && end == text->data() + text->size() && seconds > 0) return seconds;
  throw Error(FailureKind::usage, "SABATH_MPI_START_SECONDS is not a number of seconds",
              "leave it away, or set a whole number above 0");
}

// Ends this process if MPI does not start: MPI_Init waits for a lost rank as long as the launcher lets it, under srun
// until the walltime. No work has begun, and no other rank can be told.
class StartWatch {
 public:
  explicit StartWatch(unsigned seconds)
      : thread_([seconds](const std::stop_token& started) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any never;
          never.wait_for(lock, started, std::chrono::seconds(seconds), [] { return false; });
          if (started.stop_requested()) return;
          const Failure failure{FailureKind::nodes, fmt::format("MPI has not started within {} s", seconds),
                                "a rank or a node was lost at the start: run it again; if this many ranks take longer, "
                                "set SABATH_MPI_START_SECONDS",
                                std::nullopt};
          const std::string text = render_failure(failure, false, false);
          std::fwrite(text.data(), 1, text.size(), stderr);
          std::_Exit(exit_code(failure.kind));
        }) {}

 private:
  std::jthread thread_;
};

// The name of the program that has started this one, without what a distribution appends ("mpirun.openmpi"); empty: not
// known.
std::string parent_program() {
  std::ifstream file(fmt::format("/proc/{}/comm", ::getppid()));
  std::string name;
  std::getline(file, name);
  return name.substr(0, name.find('.'));
}

}  // namespace

bool is_later_rank(const Environment& environment) {
  const auto variable = [&](const std::string& name) { return environment.get(name); };
  if (launched_ranks(variable) <= 1) return false;
  constexpr std::array own_rank{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
  const auto first =
      std::ranges::find_if(own_rank, [&](const char* name) { return environment.get(name).has_value(); });
  if (first == own_rank.end() || environment.get(*first) == "0") return false;
  // As the kernel names them: 15 characters. Processes of a node are started by the launcher or by its helper there.
  constexpr std::array<std::string_view, 11> launchers{"mpirun",     "mpiexec", "orterun",   "orted",
                                                       "prte",       "prterun", "prted",     "hydra_pmi_proxy",
                                                       "slurmstepd", "palsd",   "flux-shell"};
  return std::ranges::find(launchers, parent_program()) != launchers.end();
}

bool is_first_of_node(const Environment& environment) {
  constexpr std::array rank_of_node{"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID",
                                    "SLURM_LOCALID"};
  const auto first =
      std::ranges::find_if(rank_of_node, [&](const char* name) { return environment.get(name).has_value(); });
  return first != rank_of_node.end() && environment.get(*first) == "0";
}

std::unique_ptr<MpiSession> start_ranks(const std::vector<std::string>& arguments, const Environment& environment) {
  if (!names_verb_of_ranks(arguments)) return nullptr;
  const unsigned launched = launched_ranks([&](const std::string& name) { return environment.get(name); });
  if (launched <= 1) return nullptr;
  std::unique_ptr<MpiSession> session;
  {
    const StartWatch watch(start_seconds_max(environment));
    session = MpiSession::start(mpi_places(environment));
  }
  if (session && session->comm().size() > 1) return session;
  const std::string text =
      render_warning(fmt::format("a launcher has started {} ranks, and {}: each works alone", launched,
                                 session ? fmt::format("this MPI ({}) finds one", session->library())
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
