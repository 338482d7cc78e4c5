#include "environments/target_here.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/split.h"
#include "base/text.h"
#include "base/working_directory.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::string_view python_question =
    "import sys,sysconfig;print(sys.implementation.name,'.'.join(map(str,sys.version_info[:3]))+"
    "('t' if sysconfig.get_config_var('Py_GIL_DISABLED') else ''))";

void ask_python(Programs& programs, const std::string& interpreter, WheelTarget& target) {
  const ProgramAnswer answer = programs.ask({interpreter, "-I", "-S", "-c", std::string(python_question)}, {}, 4096);
  const auto words = parts_between(answer.out, ' ');
  if (!answer.came || words.size() != 2) {
    throw Error(FailureKind::command,
                fmt::format("the target's Python is not known: {}", answer.came ? "its answer is none" : answer.why),
                "name its version, as 3.11, or its file");
  }
  if (words[0] != "cpython")
    throw Error(FailureKind::usage,
                fmt::format("{} is {}, and environments are locked for CPython", printable(answer.program),
                            printable(words[0])),
                "name an interpreter of CPython, or its version");
  std::string version = words[1];  // 3.13.1t: set_python takes the mark behind the patch as well
  set_python(target, version);
}

// Of a prefix or a virtual environment, the interpreter in it.
std::string interpreter_file(const std::string& named) {
  const std::filesystem::path path = absolute_path(named);
  std::error_code error;
  return (std::filesystem::is_directory(path, error) ? path / "bin/python3" : path).string();
}

std::string machine_here() {
  struct utsname names {};
  return ::uname(&names) == 0 ? names.machine : "";
}

void set_libc_here(WheelTarget& target) {
#ifdef _CS_GNU_LIBC_VERSION
  char buffer[64] = "";  // "glibc 2.36"
  static_cast<void>(::confstr(_CS_GNU_LIBC_VERSION, buffer, sizeof buffer));
  const std::string_view text(buffer);
  const auto parts = parts_at(text.substr(std::min(text.find(' ') + 1, text.size())), '.');
  if (text.starts_with("glibc ") && parts.size() >= 2) return set_libc(target, parts[0] + "." + parts[1], false);
#endif
  set_libc(target, "1.2", true);
}

}  // namespace

WheelTarget target_of(Programs& programs, const LockOrder& order, bool wants_python) {
  WheelTarget target;
  set_platform(target, order.platform.empty() ? machine_here() : order.platform);
  if (order.libc.starts_with("musl ") || order.libc.starts_with("musl-"))
    set_libc(target, trim(std::string_view(order.libc).substr(5)), true);
  else if (!order.libc.empty())
    set_libc(target, order.libc, false);
  else
    set_libc_here(target);
  if (!order.python.empty() && is_digit(order.python[0]) && order.python.find('/') == std::string::npos)
    set_python(target, order.python);
  else if (order.python.find('/') != std::string::npos)
    ask_python(programs, interpreter_file(order.python), target);
  else if (!order.python.empty())
    ask_python(programs, order.python, target);
  else if (wants_python)
    ask_python(programs, "python3", target);
  else
    target.minor = 0, target.full_version = "3.0.0";
  return target;
}

}  // namespace sabath
