#include "run/sampler.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/process.h"
#include "sabath/error.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

constexpr auto rarest = 10s;

double now_s() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// "37, 1024" for each device: percent and MiB.
void add_accelerators(Json& line, const std::stop_token& stop) {
  Command command;
  command.argv = {"nvidia-smi", "--query-gpu=utilization.gpu,memory.used", "--format=csv,noheader,nounits"};
  command.deadline = 5s;
  try {
    std::istringstream rows(run_command(command, stop).out);
    int device = 0;
    for (std::string row; std::getline(rows, row); ++device) {
      double percent = 0, mebibytes = 0;
      char comma = 0;
      if (!(std::istringstream(row) >> percent >> comma >> mebibytes)) continue;
      line[fmt::format("gpu{}_percent", device)] = percent;
      line[fmt::format("gpu{}_memory_bytes", device)] = static_cast<std::uint64_t>(mebibytes * (1 << 20));
    }
  } catch (const Error&) {
    // The sample goes without: a run is not ended by a driver that hangs.
  }
}

}  // namespace

Sampler::Sampler(std::function<void(std::string_view)> take, bool accelerators)
    : take_(std::move(take)),
      accelerators_(accelerators),
      before_(usage_of_node()),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

Sampler::~Sampler() {
  thread_.request_stop();
  thread_.join();
}

void Sampler::work(const std::stop_token& stop) {
  auto pause = std::chrono::milliseconds(1000);
  while (!stop.stop_requested()) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, pause, [] { return false; });
    lock.unlock();
    sample(stop);
    pause = std::min<std::chrono::milliseconds>(pause * 2, rarest);
  }
}

void Sampler::sample(const std::stop_token& stop) {
  const NodeUsage node = usage_of_node();
  const double all = node.cpu_all_s - before_.cpu_all_s;
  utsname kernel{};
  ::uname(&kernel);
  Json line{{"time", now_s()},
            {"node", kernel.nodename},
            {"cpu_percent", all > 0 ? 100 * (node.cpu_busy_s - before_.cpu_busy_s) / all : 0},
            {"memory_bytes", node.memory_bytes},
            {"disk_read_bytes", node.disk_read_bytes - before_.disk_read_bytes},
            {"disk_written_bytes", node.disk_written_bytes - before_.disk_written_bytes},
            {"network_received_bytes", node.network_received_bytes - before_.network_received_bytes},
            {"network_sent_bytes", node.network_sent_bytes - before_.network_sent_bytes}};
  before_ = node;
  if (const pid_t root = root_; root > 0) {
    const TreeUsage run = usage_below(root);
    line["run_processes"] = run.processes;
    line["run_cpu_seconds"] = run.cpu_s;
    line["run_memory_bytes"] = run.memory_bytes;
  }
  if (accelerators_) add_accelerators(line, stop);
  try {
    take_(line.dump());
  } catch (const Error&) {
    // A disk that is full is told where the metrics are written.
  }
}

}  // namespace sabath
