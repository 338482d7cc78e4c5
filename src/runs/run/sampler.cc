#include "run/sampler.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/threads.h"
#include "sabath/error.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

constexpr auto rarest = 10s;

}  // namespace

Sampler::Sampler(std::function<void(std::string_view)> take, std::string node, AcceleratorProbe accelerators)
    : take_(std::move(take)),
      node_(std::move(node)),
      accelerators_(std::move(accelerators)),
      before_(usage_of_node()),
      thread_(start_thread([this](const std::stop_token& stop) { work(stop); })) {}

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
  Json line{{"time", unix_seconds()},
            {"node", node_},
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
  // The last sample asks even after a stop request: a run of a second has no other sample.
  accelerators_.add_to(line, stop.stop_requested() ? std::stop_token() : stop);
  try {
    take_(line.dump());
  } catch (const Error&) {
    // A full disk ends no run, on any node.
  }
}

}  // namespace sabath
