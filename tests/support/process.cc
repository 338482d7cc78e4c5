#include "support/process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace sabath::test {
namespace {

// Children of children too: a server's sessions may have left its process group.
std::vector<pid_t> descendants_of(pid_t pid) {
  std::vector<pid_t> found = {pid};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string id = std::to_string(found[i]);
    std::ifstream children("/proc/" + id + "/task/" + id + "/children");
    for (pid_t child = 0; children >> child;) found.push_back(child);
  }
  found.erase(found.begin());
  return found;
}

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

sockaddr_in loopback_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

ChildProcess::ChildProcess(const std::vector<std::string>& argv, const std::filesystem::path& log) {
  const std::string program = find_program(argv.at(0));
  if (program.empty()) throw std::runtime_error("no such program: " + argv[0]);
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ == 0) {  // only async-signal-safe calls from here on
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    const int input = open("/dev/null", O_RDONLY);
    if (output < 0 || input < 0) _exit(126);
    dup2(input, 0);
    dup2(output, 1);
    dup2(output, 2);
    execv(program.c_str(), arguments.data());
    _exit(127);
  }
  setpgid(pid_, pid_);  // in both, so that neither has to wait for the other
}

void ChildProcess::reap(bool block) {
  int status = 0;
  if (pid_ <= 0 || waitpid(pid_, &status, block ? 0 : WNOHANG) != pid_) return;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = -1;
}

bool ChildProcess::running() {
  reap(false);
  return pid_ > 0;
}

void ChildProcess::kill() {
  if (pid_ <= 0) return;
  const std::vector<pid_t> descendants = descendants_of(pid_);
  ::kill(-pid_, SIGKILL);
  for (const pid_t descendant : descendants) ::kill(descendant, SIGKILL);
  reap(true);
}

void ChildProcess::stop() {
  if (!running()) return;
  const std::vector<pid_t> descendants = descendants_of(pid_);
  ::kill(-pid_, SIGTERM);
  for (const pid_t descendant : descendants) ::kill(descendant, SIGTERM);
  if (!wait_until([&] { return !running(); }, std::chrono::seconds(5))) kill();
}

int ChildProcess::wait() {
  reap(true);
  return exit_code_;
}

std::string find_program(const std::string& name) {
  if (name.find('/') != name.npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream directories(std::string(path != nullptr ? path : "") + ":/usr/sbin:/sbin:/usr/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string file = directory + '/' + name;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

std::vector<std::string> script(const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {python, "-B", SABATH_TESTS_DIR "/" + name};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

bool wait_until(const std::function<bool()>& ready, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!ready()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

std::uint16_t free_port() {
  std::random_device random;
  std::uniform_int_distribution<std::uint16_t> ports(12'000, 32'767);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::uint16_t port = ports(random);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback_address(port);
    const bool bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(fd);
    if (bound) return port;
  }
  throw std::runtime_error("no free port");
}

bool accepts(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback_address(port);
  const bool connected = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return connected;
}

ServerProcess start_server(const std::function<std::vector<std::string>(std::uint16_t)>& prepare,
                           const std::filesystem::path& log) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::uint16_t port = free_port();
    auto child = std::make_unique<ChildProcess>(prepare(port), log);
    if (wait_until([&] { return !child->running() || accepts(port); }) && child->running())
      return {std::move(child), port};
  }
  throw std::runtime_error("the server did not start: " + text_of(log));
}

}  // namespace sabath::test
