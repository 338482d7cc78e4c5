// mpi.cuda_aware, mpi.ranks_per_node, ucx.gdrcopy: asked of the programs that the run's launcher brings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "checks/builtin.h"
#include "run/rank_streams.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using State = CheckFound::State;

constexpr std::size_t ompi_info_bytes = 8 << 20;  // Open MPI 4.1 prints 0.6 MB
constexpr const char* load_cuda_mpi = "load an MPI that was built with CUDA, and its launcher";

std::string variable_in(const CheckPlace& place, const char* name) {
  const auto found = place.environment.find(name);
  return found == place.environment.end() ? "" : found->second;
}

// Cray's library decides by a variable when it starts.
std::optional<CheckFound> cuda_aware_cray(const CheckPlace& place) {
  const std::string version = variable_in(place, "CRAY_MPICH_VERSION");
  if (version.empty() && variable_in(place, "CRAY_MPICH_DIR").empty()) return std::nullopt;
  const bool on = variable_in(place, "MPICH_GPU_SUPPORT_ENABLED") == "1";
  return CheckFound{on ? State::met : State::not_met,
                    fmt::format("Cray MPICH {}, MPICH_GPU_SUPPORT_ENABLED {}", version, on ? "is 1" : "is not 1"),
                    "the variables of the environment",
                    on ? "" : "set MPICH_GPU_SUPPORT_ENABLED=1, and link the program with the accelerator's library"};
}

CheckFound cuda_aware_open_mpi(const CheckPlace& place, const std::string& ompi_info) {
  std::string trouble;
  const std::vector<std::string> argv{ompi_info, "--parsable", "--all"};
  const CheckAnswer answer = ask_of_run(place, argv, trouble, ompi_info_bytes);
  CheckFound found{State::not_known, "", fmt::format("{}", fmt::join(argv, " ")), load_cuda_mpi};
  std::string version;
  for_each_line(answer.out, [&](std::string_view line) {
    constexpr std::string_view key = ":mpi_built_with_cuda_support:value:", of = "ompi:version:full:";
    if (line.starts_with(of)) version = line.substr(of.size());
    const auto at = line.find(key);
    if (at == std::string_view::npos) return;
    const std::string_view value = line.substr(at + key.size());
    found.state = value == "true" ? State::met : State::not_met;
    found.found = fmt::format("mpi_built_with_cuda_support is {}", value);
  });
  if (found.state == State::not_known)
    found.found = trouble.empty() ? "it does not say mpi_built_with_cuda_support" : trouble;
  if (!version.empty()) found.found = fmt::format("Open MPI {}: {}", version, found.found);
  if (found.state == State::met) found.remedy.clear();
  return found;
}

// How MPICH and MVAPICH were configured; without a word on CUDA it may have been found all the same.
CheckFound cuda_aware_mpich(const CheckPlace& place, const std::string& program) {
  std::string trouble;
  const std::vector<std::string> argv =
      program.ends_with("mpiname") ? std::vector<std::string>{program, "-a"} : std::vector<std::string>{program};
  const CheckAnswer answer = ask_of_run(place, argv, trouble);
  CheckFound found{State::not_known, "", program, load_cuda_mpi};
  const auto says = [&](std::string_view word) { return answer.out.find(word) != std::string::npos; };
  if (!trouble.empty()) {
    found.found = trouble;
  } else if (says("--without-cuda") || says("--with-cuda=no") || says("--disable-cuda")) {
    found = {State::not_met, "it was configured without CUDA", program, load_cuda_mpi};
  } else if (says("--with-cuda") || says("--enable-cuda")) {
    found = {State::met, "it was configured with CUDA", program, ""};
  } else {
    found.found = "how it was configured says nothing of CUDA";
  }
  return found;
}

enum class Maker { open_mpi, mpich, other };

Maker maker_of(const CheckPlace& place, const std::string& launcher) {
  std::string trouble;
  const CheckAnswer answer = ask_of_run(place, {launcher, "--version"}, trouble);
  const std::string said = to_lower(answer.out + answer.err);
  const auto has = [&](std::string_view word) { return said.find(word) != std::string::npos; };
  if (has("open mpi") || has("openrte") || has("prrte")) return Maker::open_mpi;
  return has("hydra") || has("mpich") || has("mvapich") ? Maker::mpich : Maker::other;
}

bool is_mpirun(const std::string& launcher) {
  const std::string name = launcher.substr(launcher.rfind('/') + 1);
  return name.starts_with("mpirun") || name.starts_with("mpiexec") || name.starts_with("orterun");
}

// The ranks of each node, as `uname -n` under the launcher prints their names.
std::map<std::string, unsigned> ranks_by_node(const CheckPlace& place, const std::string& printed) {
  std::map<std::string, unsigned> nodes;
  std::string lines_of_ranks;
  RankStreams streams(place.tagged, [&](std::optional<int> rank, std::string_view bytes) {
    if (rank || !place.tagged) lines_of_ranks += bytes;
  });
  streams.take(printed);
  streams.finish();
  for_each_line(lines_of_ranks, [&](std::string_view line) {
    if (!trim(line).empty()) ++nodes[std::string(trim(line))];
  });
  return nodes;
}

}  // namespace

CheckFound find_mpi_cuda_aware(const RecipeCheck&, const CheckPlace& place) {
  const bool own = is_mpirun(place.launcher);
  const std::string launcher = program_of_run(place, own ? place.launcher : "mpirun");
  const Maker maker = launcher.empty() ? Maker::other : maker_of(place, launcher);
  if (maker == Maker::other) {
    if (auto cray = cuda_aware_cray(place)) return *cray;
  }
  const std::string beside = own ? launcher : "";
  if (maker != Maker::mpich) {
    if (const std::string program = program_of_run(place, "ompi_info", beside); !program.empty())
      return cuda_aware_open_mpi(place, program);
  }
  for (const char* name : {"mpichversion", "mpiname"}) {
    if (const std::string program = program_of_run(place, name, beside); !program.empty() && maker != Maker::open_mpi)
      return cuda_aware_mpich(place, program);
  }
  return {State::not_known, "no ompi_info, mpichversion or mpiname of the launcher's MPI", "the PATH of the run",
          load_cuda_mpi};
}

CheckFound find_ranks_per_node(const RecipeCheck& check, const CheckPlace& place) {
  CheckFound found{State::not_met, "", "", "ask for other numbers of ranks and nodes, or another launcher"};
  const std::vector<std::string> argv = place.by_launcher({"uname", "-n"});
  found.known_by = place.launcher.empty() ? "one rank, without a launcher" : "uname -n, started by " + place.launcher;
  std::string trouble;
  const CheckAnswer answer = ask_of_run(place, argv, trouble, answer_bytes_kept + std::size_t{place.ranks} * 128);
  if (!trouble.empty()) {
    found.found = trouble;
    return found;
  }
  const auto nodes = ranks_by_node(place, answer.out);
  unsigned least = ~0U, most = 0, all = 0;
  for (const auto& [node, ranks] : nodes) {
    least = std::min(least, ranks);
    most = std::max(most, ranks);
    all += ranks;
  }
  if (nodes.empty()) least = 0;
  const std::string each = least == most ? fmt::to_string(least) : fmt::format("{} to {}", least, most);
  found.found = fmt::format("{} on each of {} nodes", each, nodes.size());
  if (nodes.size() == 1) found.found = fmt::format("{} on 1 node", each);
  if (all != place.ranks) {
    found.found = fmt::format("{} of {} ranks answered", all, place.ranks);
    return found;
  }
  const std::uint64_t bound = try_whole_number(check.bound).value_or(0);
  if (!meets_number(check, least, bound) || !meets_number(check, most, bound)) return found;
  found.state = State::met;
  found.remedy.clear();
  return found;
}

CheckFound find_ucx_gdrcopy(const RecipeCheck&, const CheckPlace& place) {
  CheckFound found{State::not_known, "no ucx_info", "the PATH of the run",
                   "load UCX with GDRCopy (`module avail ucx`)"};
  const std::string program = place.contained ? "ucx_info" : program_of_run(place, "ucx_info");
  if (program.empty()) return found;
  found.known_by = program + " -d";
  std::string trouble;
  const CheckAnswer answer = ask_of_run(place, place.inside({program, "-d"}), trouble, ompi_info_bytes);
  found.found = trouble;
  if (!trouble.empty()) return found;
  std::string transports;
  for_each_line(answer.out, [&](std::string_view line) {
    const auto at = line.find("Transport:");
    if (at == std::string_view::npos) return;
    const std::string name(trim(line.substr(at + 10)));
    if (name == "gdr_copy") found.state = State::met;
    if ((" " + transports + " ").find(" " + name + " ") == std::string::npos && transports.size() < 200)
      transports += (transports.empty() ? "" : " ") + name;
  });
  const bool met = found.state == State::met;
  if (!met && !transports.empty()) found.state = State::not_met;
  found.found = transports.empty()
                    ? "it names no transport"
                    : fmt::format("{} among its transports: {}", met ? "gdr_copy is" : "no gdr_copy", transports);
  if (met) found = {State::met, "gdr_copy is among its transports", found.known_by, ""};
  return found;
}

}  // namespace sabath
