#include "run/guarded_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/pipe.h"
#include "base/process.h"
#include "comm/parcel.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr auto guardian_ends_within = std::chrono::seconds(30);

std::string variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& line : environment) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=')
      return line.substr(name.size() + 1);
  }
  return {};
}

Parcel& add(Parcel& parcel, const std::vector<std::string>& texts) {
  parcel.add(std::uint64_t{texts.size()});
  for (const std::string& text : texts) parcel.add(text);
  return parcel;
}

std::vector<std::string> texts_of(Parcel::Reader& parcel) {
  std::vector<std::string> texts;
  for (std::uint64_t left = parcel.number(); left > 0; --left) texts.push_back(parcel.text());
  return texts;
}

}  // namespace

GuardedProcess::GuardedProcess(const ProcessSpec& spec) {
  if (spec.argv.empty()) throw Error(FailureKind::internal, "an empty command");
  program_ = spec.argv[0];
  const std::string file = find_program(program_, variable(spec.environment, "PATH"));
  if (file.empty()) {
    throw Error(FailureKind::command, fmt::format("cannot start `{}`: no such program", printable(program_)),
                "install it, load its module, or add it to PATH");
  }
  Pipe out, err;
  guardian_ = std::make_unique<Companion>(spec.companion, "guardian",
                                          Companion::Streams{out.write.get(), err.write.get()}, std::stop_token());
  send_message(guardian_->channel(), ProgramToGuard{file, spec.directory.string(), spec.argv, spec.environment,
                                                    spec.memory_bytes, spec.no_network}
                                         .encode());
  out_ = std::move(out.read);
  err_ = std::move(err.read);
}

// The guardian reads the end of its channel, and ends what is left; the program may have stopped it.
GuardedProcess::~GuardedProcess() { guardian_->end_within(guardian_ends_within); }

void GuardedProcess::signal(int number) noexcept {
  if (guardian_->pid() > 0) ::kill(guardian_->pid(), SIGCONT);  // where the program has stopped it
  const auto byte = static_cast<unsigned char>(number);
  [[maybe_unused]] const auto sent = ::send(guardian_->channel(), &byte, 1, MSG_NOSIGNAL);
}

void GuardedProcess::end_all() noexcept { signal(0); }

std::optional<ProcessEnd> GuardedProcess::try_end() {
  GuardianNews news{};
  const ssize_t n = ::recv(guardian_->channel(), &news, sizeof news, 0);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
  if (n != static_cast<ssize_t>(sizeof news)) return ProcessEnd{128 + SIGKILL, SIGKILL};  // the guardian was killed
  if (news.kind == GuardianNews::not_started) {
    throw Error(FailureKind::command,
                fmt::format("cannot start `{}`: {}", printable(program_), std::strerror(news.value)));
  }
  if (news.kind == GuardianNews::isolated) {
    isolation_ = static_cast<Isolation>(news.value);
    return std::nullopt;
  }
  if (WIFSIGNALED(news.value)) return ProcessEnd{128 + WTERMSIG(news.value), WTERMSIG(news.value)};
  return ProcessEnd{WEXITSTATUS(news.value), 0};
}

std::string ProgramToGuard::encode() const {
  Parcel parcel;
  parcel.add(file).add(directory).add(memory_bytes).add(std::uint64_t{no_network});
  return add(add(parcel, argv), environment).take();
}

ProgramToGuard ProgramToGuard::parse(std::string_view request) {
  Parcel::Reader parcel(request);
  ProgramToGuard program;
  program.file = parcel.text();
  program.directory = parcel.text();
  program.memory_bytes = parcel.number();
  program.no_network = parcel.flag();
  program.argv = texts_of(parcel);
  program.environment = texts_of(parcel);
  return program;
}

}  // namespace sabath
