#include "machine/walltime.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <ctime>
#include <vector>

#include "base/expiry.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "base/wording.h"
#include "sabath/error.h"

namespace sabath {
namespace {

using std::chrono::seconds;
using std::chrono::system_clock;
constexpr std::int64_t span_max = 10LL * 365 * 86400;
constexpr auto batch_deadline = std::chrono::seconds(10);
constexpr std::size_t output_max = 256 * 1024;  // qstat tells a job's whole environment

std::optional<std::int64_t> try_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text.front() == '-' || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value <= 1LL << 40 ? std::optional(value) : std::nullopt;
}

// "[DAYS-]HH:MM:SS", "MM:SS": slurm's time left, squeue(1).
std::optional<std::int64_t> try_clock(std::string_view text) {
  std::int64_t days = 0, sum = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto value = try_number(text.substr(0, dash));
    if (!value) return std::nullopt;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  int parts = 0;
  for (;;) {
    const auto colon = text.find(':');
    const auto value = try_number(text.substr(0, colon));
    if (!value || ++parts > 3) return std::nullopt;
    sum = sum * 60 + *value;
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
  }
  return parts < 2 ? std::nullopt : std::optional(days * 86400 + sum);
}

std::optional<std::int64_t> try_units(std::string_view text) {
  std::int64_t sum = 0;
  while (!text.empty()) {
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto value = try_number(text.substr(0, digits));
    if (!value || digits == text.size()) return std::nullopt;
    std::int64_t unit = 0;
    switch (text[digits]) {
      case 's':
        unit = 1;
        break;
      case 'm':
        unit = 60;
        break;
      case 'h':
        unit = 3600;
        break;
      case 'd':
        unit = 86400;
        break;
      default:
        return std::nullopt;
    }
    if (*value > span_max / unit) return std::nullopt;
    sum += *value * unit;
    text.remove_prefix(digits + 1);
  }
  return sum;
}

// The output of a program of the batch system; empty if it is not here, fails, or does not answer in time.
std::string try_output(std::vector<std::string> argv) {
  try {
    const auto result = run_command({.argv = std::move(argv),
                                     .environment = {},
                                     .directory = {},
                                     .deadline = batch_deadline,
                                     .output_max = output_max},
                                    {});
    return result.status == 0 ? result.out : "";
  } catch (const Error&) {
    return "";
  }
}

std::optional<Deadline> by_slurm(const Environment& environment) {
  if (const auto end = environment.get("SLURM_JOB_END_TIME")) {
    if (const auto at = try_number(*end)) return Deadline{system_clock::time_point(seconds(*at)), "SLURM_JOB_END_TIME"};
  }
  const auto job = environment.get("SLURM_JOB_ID");
  if (!job || job->find_first_not_of("0123456789_") != std::string::npos) return std::nullopt;
  // Slurm before 23 sets no end in the environment.
  const auto left = try_clock(trim(try_output({"squeue", "-h", "-j", *job, "-o", "%L"})));
  return left ? std::optional(Deadline{system_clock::now() + seconds(*left), "squeue"}) : std::nullopt;
}

// Field 4 of /proc/PID/stat, proc(5), counted from behind the name in brackets; 0: the parent is not seen here.
std::optional<std::int64_t> try_parent(std::int64_t pid) {
  const auto text = try_read_text(fmt::format("/proc/{}/stat", pid), 4096).value_or("");
  const auto begin = text.rfind(") ");
  if (begin == std::string::npos || begin + 4 >= text.size()) return std::nullopt;
  return try_number(std::string_view(text).substr(begin + 4, text.find(' ', begin + 4) - begin - 4));
}

// The job's script leads this process's session, so the job began with it. In a container the leader has no number,
// getsid(2): the oldest visible ancestor of this process replaces it.
std::optional<system_clock::time_point> session_began() {
  std::int64_t oldest = ::getsid(0);
  if (oldest == 0) {
    oldest = ::getpid();
    for (auto parent = try_parent(oldest); parent && *parent > 0; parent = try_parent(oldest)) oldest = *parent;
  }
  const auto leader = try_stat(fmt::format("/proc/{}", oldest));
  return leader ? std::optional(system_clock::from_time_t(leader->st_ctim.tv_sec)) : std::nullopt;
}

// The time behind "NAME = " in a line of `qstat -f`, in seconds.
std::optional<std::int64_t> try_qstat_clock(std::string_view text, std::string_view name) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.starts_with(name)) continue;
    line = trim(line.substr(name.size()));
    if (line.starts_with('=')) return try_clock(trim(line.substr(1)));
  }
  return std::nullopt;
}

// OpenPBS and PBS Pro tell it only there. The used time appears only after a while, and is a minute old.
std::optional<Deadline> by_qstat(const std::string& job) {
  if (job.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_[]") != job.npos ||
      job.starts_with('-')) {
    return std::nullopt;
  }
  const auto text = try_output({"qstat", "-f", job});
  const auto span = try_qstat_clock(text, "Resource_List.walltime");
  const auto used = try_qstat_clock(text, "resources_used.walltime");
  const auto begin = session_began();
  if (!span || (!used && !begin)) return std::nullopt;
  return Deadline{used ? system_clock::now() + seconds(*span - *used) : *begin + seconds(*span), "qstat"};
}

std::optional<Deadline> by_pbs(const Environment& environment) {
  const auto job = environment.get("PBS_JOBID");
  if (!job) return std::nullopt;
  const auto text = environment.get("PBS_WALLTIME");  // Torque, and some sites
  if (!text) return by_qstat(*job);
  const auto span = try_number(*text) ? try_number(*text) : try_clock(*text);
  const auto begin = session_began();
  if (!span || !begin) return std::nullopt;
  return Deadline{*begin + seconds(*span), "PBS_WALLTIME"};
}

}  // namespace

std::optional<std::int64_t> try_parse_span(std::string_view text) {
  text = trim(text);
  if (text.empty()) return std::nullopt;
  return text.find(':') == std::string_view::npos ? try_units(text) : try_clock(text);
}

std::function<std::optional<Deadline>()> deadline_of(const Environment& environment,
                                                     const std::optional<std::string>& option) {
  if (!option) {
    return [environment]() -> std::optional<Deadline> {
      if (auto slurm = by_slurm(environment)) return slurm;
      return by_pbs(environment);
    };
  }
  if (*option == "none") return {};
  std::optional<system_clock::time_point> at;
  if (const auto span = try_parse_span(*option)) {
    at = system_clock::now() + seconds(*span);
  } else {
    at = try_parse_time(trim(*option), true);
  }
  if (!at) {
    throw Error(FailureKind::usage,
                fmt::format("{} {} is neither a time nor a span of time", option_text("deadline"), *option),
                "e.g. 2h30m, 01:30:00, 2026-11-21T18:00, or none");
  }
  return [end = Deadline{*at, option_name("deadline")}] { return std::optional(end); };
}

}  // namespace sabath
