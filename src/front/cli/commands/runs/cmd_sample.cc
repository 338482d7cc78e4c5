#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/process.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "machine/machine.h"
#include "run/guarded_process.h"
#include "run/node_samples.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/session.h"
#include "sabath/verbs/sample.h"

namespace sabath::cli {
namespace {
namespace cmd_sample {

namespace fs = std::filesystem;

struct Options {
  SampleRequest request;
  std::vector<std::string> program;
};

std::string path_of(const Context& context) { return context.environment.get("PATH").value_or("/usr/bin:/bin"); }

std::string node_of(const Context& context) {
  return node_name([&](const std::string& name) { return context.environment.get(name); });
}

// Starts a grandchild, so that the program never meets a child that it does not know. The sampler closes the launcher's
// streams and pipes, so that the launcher does not wait for it.
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
  try {  // the program runs even if the samples fail
    const fs::path& directory = options.request.directory;
    if (try_claim_node(directory, node_of(context))) leave_sampler(context, directory);
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

int run(Context& context, Options& options) {
  SampleRequest& request = options.request;
  if (request.directory.empty()) throw Error(FailureKind::usage, "where the samples go is not said", "--to DIR");
  if ((request.process != 0) == !options.program.empty()) {
    throw Error(FailureKind::usage, "either a program after -- or --process PID is wanted");
  }
  if (!options.program.empty()) return become(context, options);
  request.node = node_of(context);
  request.programs = path_of(context);
  Session session(context.configuration.session);
  NoEvents unheard;
  return sample_node(session, request, unheard, context.stop).exit;
}

Action declare_samples(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  declare_fields(set, options->request);
  set.rest("PROGRAM", options->program, "become this program; the first on a node leaves a sampler behind");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_sample
}  // namespace

constexpr Verb sample_verb{
    .name = "sample",
    .summary = "write down what a node uses while a program runs",
    .examples =
        "srun sabath sample --to samples -- ./train      a file for each node of the job\n"
        "sabath sample --to samples --process 4711       until that process has ended",
    .details =
        "What sabath run does for runs of several nodes: processors, memory, disks, network and GPUs of the node, and "
        "what the launcher's processes on it take, a JSON object a line (docs/runs.md), ever rarer until there is one "
        "in ten seconds. Of the ranks on a node the first leaves a sampler behind; all become the program.",
    .keeps_state = true,
    .declare = cmd_sample::declare_samples,
};

}  // namespace sabath::cli
