#include "store/disk/writer.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"

namespace sabath {
namespace {

constexpr std::size_t host_name_max = 64;
constexpr std::uint64_t proc_file_max = 64 * 1024;

std::uint64_t hash_of_file(const char* path) {
  try {
    const auto text = try_read_text(path, proc_file_max);
    return text && !trim(*text).empty() ? xxh3_64(trim(*text)) : 0;
  } catch (const std::exception&) {
    return 0;  // unknown
  }
}

std::string host_name() {
  std::array<char, 256> buffer{};
  if (::gethostname(buffer.data(), buffer.size() - 1) != 0) return "_";
  std::string name(buffer.data());
  name.resize(std::min(name.size(), host_name_max));
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (!plain) c = '_';
  }
  if (name.empty()) name = "_";
  if (name.front() == '.') name.front() = '_';
  return name;
}

struct ProcessStat {
  char state = '?';
  std::uint64_t threads = 0;
  std::uint64_t start_time = 0;
};

// proc(5): the name in parentheses may hold anything, so count fields from the last ')'.
std::optional<ProcessStat> try_process_stat(const std::string& pid) {
  std::optional<std::string> text;
  try {
    text = try_read_text(fmt::format("/proc/{}/stat", pid), proc_file_max);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  const std::size_t name_end = rest.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  rest.remove_prefix(name_end + 1);
  ProcessStat stat;
  for (int field = 3; field <= 22; ++field) {
    rest = rest.substr(std::min(rest.size(), rest.find_first_not_of(' ')));
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (word.empty()) return std::nullopt;
    if (field == 3) stat.state = word.front();
    if (field == 20) std::from_chars(word.data(), word.data() + word.size(), stat.threads);
    if (field == 22) std::from_chars(word.data(), word.data() + word.size(), stat.start_time);
    rest.remove_prefix(word.size());
  }
  return stat;
}

template <class T>
bool take_field(std::string_view& text, int base, T& value) {  // from the right: the host's name may hold dots
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view word = text.substr(dot + 1);
  text = text.substr(0, dot);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  return error == std::errc() && end == word.data() + word.size() && !word.empty();
}

}  // namespace

std::string WriterId::text() const {
  return fmt::format("{}.{:x}.{:x}.{}.{}.{}.{:x}", host.name, host.machine, host.boot, host.pid_namespace, pid,
                     start_time, nonce);
}

std::optional<WriterId> WriterId::try_parse(std::string_view text) {
  WriterId id;
  std::string_view rest = text;
  const bool parsed = take_field(rest, 16, id.nonce) && take_field(rest, 10, id.start_time) &&
                      take_field(rest, 10, id.pid) && take_field(rest, 10, id.host.pid_namespace) &&
                      take_field(rest, 16, id.host.boot) && take_field(rest, 16, id.host.machine);
  if (!parsed || rest.empty() || rest.size() > host_name_max || id.pid < 0) return std::nullopt;
  id.host.name = rest;
  if (id.text() != text) return std::nullopt;  // one spelling only
  return id;
}

WriterId WriterId::of_this_process() {
  WriterId id;
  id.host.name = host_name();
  id.host.machine = hash_of_file("/etc/machine-id");
  id.host.boot = hash_of_file("/proc/sys/kernel/random/boot_id");
  if (const auto space = try_stat("/proc/self/ns/pid")) id.host.pid_namespace = space->st_ino;
  id.pid = ::getpid();
  if (const auto stat = try_process_stat("self")) id.start_time = stat->start_time;
  if (::getrandom(&id.nonce, sizeof id.nonce, 0) != sizeof id.nonce) throw_errno("getrandom for", "a writer", errno);
  return id;
}

Life life_of(const WriterId& writer, const HostId& here) {
  if (writer.host.name != here.name || writer.host.machine != here.machine || here.boot == 0) return Life::unknown;
  // Boots have no order: another one of this installation may be an earlier one, or that of a copy of this machine.
  if (writer.host.boot != here.boot) return Life::unknown;
  if (here.pid_namespace == 0 || writer.host.pid_namespace != here.pid_namespace) return Life::unknown;
  if (writer.pid <= 0 || (::kill(static_cast<pid_t>(writer.pid), 0) != 0 && errno == ESRCH)) return Life::dead;
  const auto stat = try_process_stat(fmt::format("{}", writer.pid));
  if (!stat) return Life::unknown;  // it exists, but /proc hides other users' processes
  if (stat->start_time != writer.start_time) return Life::dead;
  const bool over = stat->state == 'X' || (stat->state == 'Z' && stat->threads <= 1);
  return over ? Life::dead : Life::alive;
}

}  // namespace sabath
