#include "run/guarded_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "run/guardian.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

struct Pipe {
  Fd read, write;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("make a pipe", "", errno);
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
};

std::string variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& line : environment) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=')
      return line.substr(name.size() + 1);
  }
  return {};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

std::string find_program(const std::string& name, const std::string& path) {
  if (name.find('/') != std::string::npos) return name;
  std::string_view rest = path.empty() ? std::string_view("/usr/local/bin:/usr/bin:/bin") : std::string_view(path);
  while (true) {
    const auto colon = rest.find(':');
    const std::string_view directory = rest.substr(0, colon);
    const std::string file = fmt::format("{}/{}", directory.empty() ? "." : directory, name);
    // A directory of PATH that may not be looked into has nothing, as execvp(3) has it.
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(file.c_str(), X_OK) == 0) return file;
    if (colon == std::string_view::npos) return {};
    rest.remove_prefix(colon + 1);
  }
}

GuardedProcess::GuardedProcess(const ProcessSpec& spec) {
  if (spec.argv.empty()) throw Error(FailureKind::internal, "an empty command");
  program_ = spec.argv[0];
  const std::string file = find_program(program_, variable(spec.environment, "PATH"));
  if (file.empty()) {
    throw Error(FailureKind::command, fmt::format("cannot start `{}`: no such program", printable(program_)),
                "install it, load its module, or add it to PATH");
  }
  // All that allocates is done before the fork.
  auto argv_texts = spec.argv, environment_texts = spec.environment;
  const auto argv = pointers(argv_texts), environment = pointers(environment_texts);
  const std::string directory = spec.directory.string();
  Pipe out, err, news, control;
  const Fd nothing = open_file("/dev/null", O_RDONLY);
  const guardian::Program program{file.c_str(),      argv.data(),      environment.data(),
                                  directory.c_str(), nothing.get(),    out.write.get(),
                                  err.write.get(),   news.write.get(), control.read.get()};
  guardian_ = ::fork();
  if (guardian_ < 0) throw_errno("start a process for", file, errno);
  if (guardian_ == 0) guardian::stand(program);
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  news_ = std::move(news.read);
  control_ = std::move(control.write);
}

GuardedProcess::~GuardedProcess() {
  control_.reset();  // the guardian reads its end, and ends what is left
  int status = 0;
  while (::waitpid(guardian_, &status, 0) < 0 && errno == EINTR) {}
}

void GuardedProcess::signal(int number) noexcept {
  const auto byte = static_cast<unsigned char>(number);
  [[maybe_unused]] const auto written = ::write(control_.get(), &byte, 1);
}

void GuardedProcess::end_all() noexcept { signal(0); }

std::optional<ProcessEnd> GuardedProcess::try_end() {
  guardian::News news{};
  const ssize_t n = ::read(news_.get(), &news, sizeof news);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
  if (n != static_cast<ssize_t>(sizeof news)) return ProcessEnd{128 + SIGKILL, SIGKILL};  // the guardian was killed
  if (news.kind == guardian::News::not_started) {
    throw Error(FailureKind::command,
                fmt::format("cannot start `{}`: {}", printable(program_), std::strerror(news.value)));
  }
  if (WIFSIGNALED(news.value)) return ProcessEnd{128 + WTERMSIG(news.value), WTERMSIG(news.value)};
  return ProcessEnd{WEXITSTATUS(news.value), 0};
}

}  // namespace sabath
