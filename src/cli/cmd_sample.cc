#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>

#include "base/file.h"
#include "cli/verbs.h"
#include "run/guarded_process.h"
#include "run/machine.h"
#include "run/node_samples.h"
#include "run/sampler.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {
namespace cmd_sample {

namespace fs = std::filesystem;

struct Options {
  std::string to;
  std::optional<std::uint64_t> process;
  std::vector<std::string> program;
};

std::string path_of(const Context& context) { return context.environment.get("PATH").value_or("/usr/bin:/bin"); }

std::string node_of(const Context& context) {
  return node_name([&](const std::string& name) { return context.environment.get(name); });
}

// Samples until the process, whose siblings are the run's other ranks on this node, has gone.
int sample(const Context& context, pid_t process, const fs::path& file) {
  const auto origin = try_origin(process);
  if (!origin) return 0;
  const Fd fd = open_file(file, O_WRONLY | O_CREAT | O_APPEND);
  Sampler sampler(
      [&](std::string_view line) {
        const std::string text = std::string(line) + "\n";
        write_all(fd.get(), std::as_bytes(std::span(text)), file);
      },
      node_of(context), AcceleratorProbe(path_of(context)));
  if (origin->parent > 1) sampler.watch(origin->parent);
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  while (!context.stop.stop_requested()) {
    wake.wait_for(lock, context.stop, std::chrono::milliseconds(300), [] { return false; });
    const auto now = try_origin(process);
    if (!now || now->start != origin->start) break;
  }
  return 0;
}

// A grandchild, so that the program never meets a child that it does not know; without the launcher's streams and
// pipes, so that nobody waits for it.
void leave_sampler(const Context& context, const fs::path& directory) {
  const std::string self = context.environment.executable.string(), of = std::to_string(::getpid());
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() != 0) ::_exit(0);
    const int nothing = ::open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd) ::dup2(nothing, fd);
    ::syscall(SYS_close_range, 3U, ~0U, 0);
    ::execl(self.c_str(), "sabath", "sample", "--to", directory.c_str(), "--process", of.c_str(), nullptr);
    ::_exit(127);
  }
  if (child > 0) ::waitpid(child, nullptr, 0);
}

int become(Context& context, const Options& options) {
  const std::string program = find_program(options.program.front(), path_of(context));
  try {  // whatever is wrong with the samples, the program runs
    if (try_claim_node(options.to, node_of(context))) leave_sampler(context, options.to);
  } catch (const Error& error) {
    context.warn(error.failure().message);
  }
  std::vector<char*> argv;
  for (const std::string& word : options.program) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  if (!program.empty()) ::execv(program.c_str(), argv.data());
  const int reason = program.empty() ? ENOENT : errno;
  throw Error(FailureKind::command,
              fmt::format("cannot start {}: {}", printable(options.program.front(), 400), std::strerror(reason)));
}

int run(Context& context, const Options& options) {
  if (options.to.empty()) throw Error(FailureKind::usage, "where the samples go is not said", "--to DIR");
  if (options.process.has_value() == !options.program.empty()) {
    throw Error(FailureKind::usage, "either a program after -- or --process PID is wanted");
  }
  if (options.program.empty()) {
    make_directories(options.to);
    return sample(context, static_cast<pid_t>(*options.process), fs::path(options.to) / (node_of(context) + ".jsonl"));
  }
  return become(context, options);
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.option("--to", "DIR", options->to, "directory for the samples, a file NODE.jsonl for each node");
  set.count("--process", "PID", 1u << 30u, options->process, "sample until this process has ended");
  set.rest("PROGRAM", options->program, "become this program; the first on a node leaves a sampler behind");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_sample
}  // namespace

constexpr Verb sample_verb{
    "sample",
    "write down what a node uses while a program runs",
    "srun sabath sample --to samples -- ./train      a file for each node of the job\n"
    "sabath sample --to samples --process 4711       until that process has ended",
    "What sabath run does for runs of several nodes: processors, memory, disks, network and GPUs of the node, and what "
    "the launcher's processes on it take, a JSON object a line (docs/runs.md), ever rarer until there is one in ten "
    "seconds. Of the ranks on a node the first leaves a sampler behind; all become the program.",
    true,
    cmd_sample::declare,
};

}  // namespace sabath::cli
