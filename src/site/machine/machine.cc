#include "machine/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// The value of the first line "KEY : value" of a file in /proc.
std::string value_in(const char* file, std::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const auto colon = line.find(':');
    if (colon != std::string::npos && trim(std::string_view(line).substr(0, colon)) == key)
      return std::string(trim(std::string_view(line).substr(colon + 1)));
  }
  return {};
}

Json printable_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(printable(text)); }

Json memory_bytes() {
  const std::string text = value_in("/proc/meminfo", "MemTotal");
  std::uint64_t kibibytes = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), kibibytes).ec != std::errc()) return nullptr;
  return kibibytes * 1024;
}

// The lines that a program prints, if it is installed and answers in time.
std::vector<std::string> lines_of(const std::vector<std::string>& argv, const Variables& variable,
                                  const std::stop_token& stop) {
  std::vector<std::string> lines;
  if (find_program(argv[0], variable("PATH").value_or("")).empty()) return lines;
  Command command;
  command.argv = argv;
  command.deadline = std::chrono::seconds(5);
  command.output_max = 64 * 1024;
  try {
    const CommandResult result = run_command(command, stop);
    if (result.status != 0) return lines;
    std::string_view rest = result.out;
    while (!rest.empty() && lines.size() < 64) {
      const auto end = rest.find('\n');
      if (const auto line = trim(rest.substr(0, end)); !line.empty()) lines.emplace_back(printable(line));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  } catch (const Error& error) {
    if (error.failure().kind == FailureKind::interrupted) throw;
  }
  return lines;
}

Json accelerators(const Variables& variable, const std::stop_token& stop) {
  auto found =
      lines_of({"nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"}, variable, stop);
  if (found.empty()) found = lines_of({"rocm-smi", "--showproductname", "--csv"}, variable, stop);
  return found;
}

Json interconnect() {
  Json names = Json::array();
  std::error_code none;
  for (const char* kind : {"/sys/class/infiniband", "/sys/class/cxi"}) {
    for (const auto& entry : fs::directory_iterator(kind, none)) names.push_back(entry.path().filename().string());
  }
  return names;
}

Json container(const Variables& variable) {
  if (const auto file = variable("APPTAINER_CONTAINER")) return "apptainer: " + printable(*file);
  if (const auto file = variable("SINGULARITY_CONTAINER")) return "singularity: " + printable(*file);
  if (try_stat("/run/.containerenv")) return "podman";
  if (try_stat("/.dockerenv")) return "docker";
  if (try_stat("/ch/environment")) return "charliecloud";
  return nullptr;
}

Json batch_job(const Variables& variable) {
  for (const auto& [system, name] :
       {std::pair{"slurm", "SLURM_JOB_ID"}, {"pbs", "PBS_JOBID"}, {"flux", "FLUX_JOB_ID"}, {"lsf", "LSB_JOBID"}}) {
    if (const auto id = variable(name)) return {{"system", system}, {"id", printable(*id)}};
  }
  return nullptr;
}

}  // namespace

std::string node_name(const Variables& variable) {
  utsname kernel{};
  ::uname(&kernel);
  std::string name = variable("SLURMD_NODENAME").value_or(kernel.nodename).substr(0, 200);
  for (char& c : name) {  // it becomes a file's name
    if (c == '/' || static_cast<unsigned char>(c) < 0x21) c = '_';
  }
  return name;
}

Json describe_machine(const Variables& variable, const std::stop_token& stop) {
  utsname kernel{};
  ::uname(&kernel);
  cpu_set_t usable;
  CPU_ZERO(&usable);
  const bool known = ::sched_getaffinity(0, sizeof usable, &usable) == 0;
  const auto mpi = lines_of({"mpirun", "--version"}, variable, stop);
  return {
      {"node", printable(node_name(variable))},  {"kernel", fmt::format("{} {}", kernel.sysname, kernel.release)},
      {"architecture", kernel.machine},          {"cpu", printable_or_null(value_in("/proc/cpuinfo", "model name"))},
      {"cpus", ::sysconf(_SC_NPROCESSORS_ONLN)}, {"cpus_usable", known ? Json(CPU_COUNT(&usable)) : Json(nullptr)},
      {"memory_bytes", memory_bytes()},          {"accelerators", accelerators(variable, stop)},
      {"interconnect", interconnect()},          {"mpi", mpi.empty() ? Json(nullptr) : Json(mpi.front())},
      {"container", container(variable)},        {"job", batch_job(variable)}};
}

}  // namespace sabath
