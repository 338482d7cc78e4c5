#include "machine/idle_cores.h"

#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "base/text.h"

namespace sabath {

std::optional<double> idle_seconds(const std::filesystem::path& proc) {
  cpu_set_t ours;
  if (::sched_getaffinity(0, sizeof ours, &ours) != 0) return std::nullopt;
  double ticks = 0;
  unsigned cores = 0;
  // proc(5): "cpu0 user nice system idle iowait ...", a line for each core, below one for all.
  std::ifstream lines(proc / "stat");
  for (std::string line; std::getline(lines, line) && line.starts_with("cpu");) {
    std::istringstream fields(line.substr(3));
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0;
    std::getline(fields, name, ' ');
    const auto core = try_whole_number(name);
    if (!core || *core >= CPU_SETSIZE || !CPU_ISSET(*core, &ours)) continue;
    if (!(fields >> user >> nice >> system >> idle >> iowait)) continue;
    ticks += idle + iowait;
    ++cores;
  }
  if (cores == 0) return std::nullopt;
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK)) / cores;
}

}  // namespace sabath
