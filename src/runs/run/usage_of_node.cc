#include "run/usage_of_node.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace sabath {
namespace {

namespace fs = std::filesystem;

double ticks_per_second() { return static_cast<double>(::sysconf(_SC_CLK_TCK)); }

void read_cpu(NodeUsage& usage) {
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;  // "cpu", then user nice system idle iowait irq softirq steal
  double ticks = 0;
  for (int i = 0; i < 8 && file >> ticks; ++i) {
    usage.cpu_all_s += ticks / ticks_per_second();
    if (i != 3 && i != 4) usage.cpu_busy_s += ticks / ticks_per_second();
  }
}

void read_memory(NodeUsage& usage) {
  std::ifstream file("/proc/meminfo");
  std::uint64_t total = 0, available = 0, value = 0;
  std::string name, unit;
  while (file >> name >> value && std::getline(file, unit)) {
    if (name == "MemTotal:") total = value;
    if (name == "MemAvailable:") available = value;
  }
  usage.memory_bytes = total > available ? (total - available) * 1024 : 0;
}

// Whole disks only: a partition's bytes are its disk's as well.
void read_disks(NodeUsage& usage) {
  std::ifstream file("/proc/diskstats");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string major, minor, name;
    std::uint64_t reads = 0, merged = 0, sectors_read = 0, ms = 0, writes = 0, writes_merged = 0, sectors_written = 0;
    fields >> major >> minor >> name >> reads >> merged >> sectors_read >> ms >> writes >> writes_merged >>
        sectors_written;
    std::error_code none;
    if (!fields || name.starts_with("loop") || name.starts_with("ram") || name.starts_with("dm-") ||
        !fs::exists("/sys/block/" + name, none))
      continue;
    usage.disk_read_bytes += sectors_read * 512;
    usage.disk_written_bytes += sectors_written * 512;
  }
}

void read_network(NodeUsage& usage) {
  std::ifstream file("/proc/net/dev");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.substr(0, colon).ends_with("lo")) continue;
    std::istringstream fields(line.substr(colon + 1));
    std::uint64_t received = 0, other = 0, sent = 0;
    fields >> received;
    for (int i = 0; i < 7; ++i) fields >> other;
    if (!(fields >> sent)) continue;
    usage.network_received_bytes += received;
    usage.network_sent_bytes += sent;
  }
}

struct Process {
  pid_t parent = 0;
  double cpu_s = 0;
  std::uint64_t memory_bytes = 0, start = 0;
  bool ended = false;  // and its parent has not asked yet how
};

// Fields 3 (state), 4 (parent), 14 to 17 (times), 20 (threads), 22 (start) and 24 (pages) of /proc/PID/stat, counted
// from behind the name in brackets.
bool read_process(const std::string& pid, Process& process) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string line;
  std::getline(file, line);
  const auto bracket = line.rfind(')');
  if (bracket == std::string::npos) return false;
  std::istringstream fields(line.substr(bracket + 1));
  std::string state, skipped;
  double utime = 0, stime = 0, children_utime = 0, children_stime = 0;
  std::uint64_t pages = 0, threads = 0;
  fields >> state >> process.parent;
  for (int i = 5; i < 14; ++i) fields >> skipped;
  fields >> utime >> stime >> children_utime >> children_stime;
  fields >> skipped >> skipped >> threads >> skipped >> process.start >> skipped >> pages;
  process.ended = state == "Z" && threads < 2;  // its first thread may have gone before others
  process.cpu_s = (utime + stime + children_utime + children_stime) / ticks_per_second();
  process.memory_bytes = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return static_cast<bool>(fields);
}

}  // namespace

NodeUsage usage_of_node() {
  NodeUsage usage;
  read_cpu(usage);
  read_memory(usage);
  read_disks(usage);
  read_network(usage);
  return usage;
}

std::optional<Origin> try_origin(pid_t process) {
  Process seen;
  if (!read_process(std::to_string(process), seen) || seen.ended) return std::nullopt;
  return Origin{seen.parent, seen.start};
}

TreeUsage usage_below(pid_t root) {
  std::map<pid_t, Process> processes;
  std::multimap<pid_t, pid_t> children;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/proc", none)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    Process process;
    if (error != std::errc() || end != name.data() + name.size() || !read_process(name, process)) continue;
    processes[pid] = process;
    children.emplace(process.parent, pid);
  }
  TreeUsage usage;
  std::vector<pid_t> open{root};
  while (!open.empty()) {
    const auto [begin, end] = children.equal_range(open.back());
    open.pop_back();
    for (auto child = begin; child != end; ++child) {
      const Process& process = processes[child->second];
      ++usage.processes;
      usage.cpu_s += process.cpu_s;
      usage.memory_bytes += process.memory_bytes;
      open.push_back(child->second);
    }
  }
  return usage;
}

}  // namespace sabath
