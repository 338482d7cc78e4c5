#include "jobs/job_scheduler.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace sabath {
namespace {

using Words = std::vector<std::string>;

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = trim(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// "12_3", "12[3]", "12[3].server": the number of the task.
std::optional<std::uint64_t> task_in(std::string_view id) {
  const auto mark = id.find_first_of("_[");
  if (mark == id.npos) return std::nullopt;
  const auto digits = id.substr(mark + 1);
  return try_whole_number(digits.substr(0, digits.find_first_not_of("0123456789")));
}

template <std::size_t N>
JobState state_of(std::string_view word, const std::array<std::pair<std::string_view, JobState>, N>& known) {
  for (const auto& [begin, state] : known) {
    if (word.starts_with(begin)) return state;
  }
  return JobState::waiting;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_of(std::string_view text, std::string_view marks) {
  return std::ranges::all_of(
      text, [&](char c) { return is_digit(c) || is_letter(c) || marks.find(c) != std::string_view::npos; });
}

// A site's filters may speak before the id, and warn behind it.
std::string last_id_in(std::string_view out, bool (*is_id)(std::string_view)) {
  std::string_view id;
  while (!out.empty()) {
    if (const auto line = next_line(out); is_id(line)) id = line;
  }
  return std::string(id);
}

// --- Slurm: sbatch(1), squeue(1) -----------------------------------------------------------------------------------

constexpr const char* slurm_environment = "--export=HOME,USER,LOGNAME,SHELL,PATH,LANG,LC_ALL";

// "12", "12_3" or "12;cluster", as sbatch --parsable says it.
bool is_id_of_slurm(std::string_view text) {
  const std::string_view number = text.substr(0, text.find(';'));
  return is_job_id(text) && is_digit(number.front()) &&
         number.find_first_not_of("0123456789_") == std::string_view::npos;
}

std::string number_of_slurm(const std::string& id) { return id.substr(0, id.find(';')); }

// The program, and the cluster that has the job, where it is not this node's own.
Words for_cluster(const char* program, const std::string& id) {
  const auto mark = id.find(';');
  return mark == id.npos ? Words{program} : Words{program, "--clusters=" + id.substr(mark + 1)};
}

Words submit_slurm(const std::string& script, const std::string& after, std::optional<std::uint64_t>) {
  Words argv = for_cluster("sbatch", after);
  // Said here as well, because SBATCH_EXPORT and its like win over the script.
  argv.insert(argv.end(), {"--parsable", slurm_environment});
  if (!after.empty())
    argv.insert(argv.end(), {"--dependency=afterok:" + number_of_slurm(after), "--kill-on-invalid-dep=yes"});
  argv.push_back(script);
  return argv;
}

std::string id_of_slurm(std::string_view out) { return last_id_in(out, is_id_of_slurm); }

Words ask_slurm(const std::string& id) {
  Words argv = for_cluster("squeue", id);
  argv.insert(argv.end(),
              {"--noheader", "--states=all", "--array", "--jobs=" + number_of_slurm(id), "--format=%i|%T|%r"});
  return argv;
}

std::vector<JobTaskState> states_of_slurm(std::string_view out) {
  constexpr std::array<std::pair<std::string_view, JobState>, 12> known{{{"RUNNING", JobState::running},
                                                                         {"COMPLETING", JobState::running},
                                                                         {"STOPPED", JobState::running},
                                                                         {"SUSPENDED", JobState::running},
                                                                         {"COMPLETED", JobState::ended},
                                                                         {"CANCELLED", JobState::cancelled},
                                                                         {"REVOKED", JobState::cancelled},
                                                                         {"PREEMPTED", JobState::cancelled},
                                                                         {"TIMEOUT", JobState::timed_out},
                                                                         {"DEADLINE", JobState::timed_out},
                                                                         {"NODE_FAIL", JobState::node_failed},
                                                                         {"BOOT_FAIL", JobState::node_failed}}};
  std::vector<JobTaskState> states;
  while (!out.empty()) {
    const std::string_view line = next_line(out);
    const auto first = line.find('|'), second = first == line.npos ? line.npos : line.find('|', first + 1);
    if (second == line.npos || !is_digit(line.front())) continue;
    const std::string_view word = line.substr(first + 1, second - first - 1);
    if (word.empty() || !is_of(word, "_")) continue;
    JobState state = state_of(word, known);
    if (word == "FAILED" || word == "OUT_OF_MEMORY") state = JobState::failed;
    states.push_back({task_in(line.substr(0, first)), state, std::string(word), std::string(line.substr(second + 1))});
  }
  return states;
}

Words cancel_slurm(const std::string& id) {
  Words argv = for_cluster("scancel", id);
  argv.push_back(number_of_slurm(id));
  return argv;
}

// --- PBS: qsub(1B), qstat(1B) of OpenPBS ---------------------------------------------------------------------------

Words submit_pbs(const std::string& script, const std::string& after, std::optional<std::uint64_t>) {
  Words argv{"qsub"};
  if (!after.empty()) argv.insert(argv.end(), {"-W", "depend=afterok:" + after});
  argv.push_back(script);
  return argv;
}

bool is_id_of_pbs(std::string_view text) {  // "12", "12[].server", "12[3].server"
  return is_job_id(text) && is_digit(text.front()) && text.find(';') == text.npos;
}

std::string id_of_pbs(std::string_view out) { return last_id_in(out, is_id_of_pbs); }

Words ask_pbs(const std::string& id) { return {"qstat", "-x", "-t", "-f", id}; }

std::vector<JobTaskState> states_of_pbs(std::string_view out) {
  constexpr std::array<std::pair<std::string_view, JobState>, 5> known{{{"R", JobState::running},
                                                                        {"E", JobState::running},
                                                                        {"B", JobState::running},
                                                                        {"F", JobState::ended},
                                                                        {"X", JobState::ended}}};
  std::vector<JobTaskState> states;
  while (!out.empty()) {
    const std::string_view line = next_line(out);
    constexpr std::string_view head = "Job Id: ", state = "job_state = ", comment = "comment = ";
    if (line.starts_with(head)) {
      states.push_back({task_in(line.substr(head.size())), JobState::waiting, "", ""});
    } else if (line.starts_with(state) && !states.empty()) {
      states.back().word = line.substr(state.size());
      states.back().state = state_of(states.back().word, known);
    } else if (line.starts_with(comment) && !states.empty()) {
      states.back().reason = line.substr(comment.size());
    }
  }
  return states;
}

Words cancel_pbs(const std::string& id) { return {"qdel", id}; }

// --- Flux: flux-batch(1), flux-jobs(1) -----------------------------------------------------------------------------

Words submit_flux(const std::string& script, const std::string& after, std::optional<std::uint64_t> task) {
  Words argv{"flux", "batch"};
  // Of a task that waits for another one the kind is said already.
  if (!after.empty()) argv.push_back("--dependency=" + (after.find(':') == after.npos ? "afterok:" + after : after));
  if (task) argv.push_back("--env=SABATH_TASK=" + std::to_string(*task));
  argv.push_back(script);
  return argv;
}

// "f58" and what is made of its alphabet, or the number in decimal, in hexadecimal or in dotted parts.
bool is_id_of_flux(std::string_view text) {
  if (!is_job_id(text) || text.find_first_of(";[]_-") != text.npos) return false;
  return is_digit(text.front()) || (text.front() == 'f' && text.size() > 1 && text.find_first_of("0OIl.") == text.npos);
}

std::string id_of_flux(std::string_view out) { return last_id_in(out, is_id_of_flux); }

Words ask_flux(const std::string& id) { return {"flux", "jobs", "--no-header", "--format={id}|{state}|{result}", id}; }

std::vector<JobTaskState> states_of_flux(std::string_view out) {
  std::vector<JobTaskState> states;
  while (!out.empty()) {
    const std::string_view line = next_line(out);
    const auto first = line.find('|'), second = first == line.npos ? line.npos : line.find('|', first + 1);
    if (second == line.npos || !is_job_id(line.substr(0, first))) continue;
    const std::string_view word = line.substr(first + 1, second - first - 1), result = line.substr(second + 1);
    const JobState state = word == "RUN" || word == "CLEANUP" ? JobState::running
                           : word != "INACTIVE"               ? JobState::waiting
                           : result == "CANCELED"             ? JobState::cancelled
                           : result == "TIMEOUT"              ? JobState::timed_out
                           : result == "FAILED"               ? JobState::failed
                                                              : JobState::ended;
    states.push_back({std::nullopt, state, std::string(word == "INACTIVE" ? result : word), ""});
  }
  return states;
}

Words cancel_flux(const std::string& id) { return {"flux", "cancel", id}; }

// --- LSF: bsub(1), bjobs(1) ----------------------------------------------------------------------------------------

Words submit_lsf(const std::string& script, const std::string& after, std::optional<std::uint64_t>) {
  // bsub reads its lines in a script from its standard input only.
  Words argv{"/bin/sh", "-c", R"(script=$1; shift; exec bsub "$@" <"$script")", "sh", script};
  if (!after.empty()) argv.insert(argv.end(), {"-w", "done(" + after + ")"});
  return argv;
}

bool is_id_of_lsf(std::string_view text) {  // "12", "12[3]"
  return is_job_id(text) && is_digit(text.front()) && text.find_first_not_of("0123456789[]") == std::string_view::npos;
}

std::string id_of_lsf(std::string_view out) {  // "Job <12> is submitted to queue <normal>."
  constexpr std::string_view mark = "Job <";
  for (auto at = out.find(mark); at != out.npos; at = out.find(mark)) {
    out.remove_prefix(at + mark.size());
    if (const auto id = out.substr(0, out.find('>')); is_id_of_lsf(id)) return std::string(id);
  }
  return "";
}

Words ask_lsf(const std::string& id) {
  return {"bjobs", "-a", "-noheader", "-o", "jobid jobindex stat exit_code delimiter='|'", id};
}

std::vector<JobTaskState> states_of_lsf(std::string_view out) {
  constexpr std::array<std::pair<std::string_view, JobState>, 6> known{{{"RUN", JobState::running},
                                                                        {"USUSP", JobState::running},
                                                                        {"SSUSP", JobState::running},
                                                                        {"DONE", JobState::ended},
                                                                        {"EXIT", JobState::failed},
                                                                        {"ZOMBI", JobState::node_failed}}};
  std::vector<JobTaskState> states;
  while (!out.empty()) {
    std::string_view line = next_line(out);
    Words parts;
    for (std::size_t bar = 0; bar != line.npos; line.remove_prefix(bar == line.npos ? 0 : bar + 1)) {
      bar = line.find('|');
      parts.emplace_back(line.substr(0, bar));
    }
    if (parts.size() < 3 || !is_id_of_lsf(parts[0]) || parts[2].empty() || !is_of(parts[2], "")) continue;
    const auto index = try_whole_number(parts[1]);  // from 1; 0: no array
    const auto task = index && *index > 0 ? std::optional(*index - 1) : std::nullopt;
    states.push_back({task, state_of(parts[2], known), parts[2], ""});
  }
  return states;
}

Words cancel_lsf(const std::string& id) { return {"bkill", id}; }

constexpr std::array<JobScheduler, 4> all_schedulers{{
    {"slurm", "#SBATCH", "sbatch", true, submit_slurm, id_of_slurm, ask_slurm, states_of_slurm, cancel_slurm,
     "Invalid job id", is_id_of_slurm},
    {"pbs", "#PBS", "qsub", true, submit_pbs, id_of_pbs, ask_pbs, states_of_pbs, cancel_pbs, "Unknown Job Id",
     is_id_of_pbs},
    {"flux", "#flux:", "flux", false, submit_flux, id_of_flux, ask_flux, states_of_flux, cancel_flux, "not found",
     is_id_of_flux},
    {"lsf", "#BSUB", "bsub", true, submit_lsf, id_of_lsf, ask_lsf, states_of_lsf, cancel_lsf, "is not found",
     is_id_of_lsf},
}};

}  // namespace

std::string_view job_state_text(JobState state) { return job_state_texts[static_cast<std::size_t>(state)]; }

std::span<const JobScheduler> job_schedulers() { return all_schedulers; }

const JobScheduler* find_job_scheduler(std::string_view name) {
  const auto found = std::ranges::find(all_schedulers, name, &JobScheduler::name);
  return found == all_schedulers.end() ? nullptr : &*found;
}

std::optional<JobObstacle> job_obstacle(std::string_view reason) {
  constexpr std::array<std::pair<std::string_view, JobObstacle>, 13> known{{
      {"PartitionTimeLimit", {FailureKind::space, "it asks for more time than its partition gives"}},
      {"AssocMaxWallDurationPerJobLimit", {FailureKind::space, "it asks for more time than its account gives"}},
      {"QOSMaxWallDurationPerJobLimit",
       {FailureKind::space, "it asks for more time than its quality of service gives"}},
      {"PartitionConfig", {FailureKind::usage, "its partition has no such nodes, or not as many"}},
      {"PartitionNodeLimit", {FailureKind::usage, "it asks for more nodes than its partition gives"}},
      {"BadConstraints", {FailureKind::usage, "no node is as it asks for"}},
      {"DependencyNeverSatisfied", {FailureKind::command, "a job that it waits for has failed"}},
      {"AccountNotAllowed", {FailureKind::access, "its account may not use the partition"}},
      {"QOSNotAllowed", {FailureKind::access, "its quality of service may not use the partition"}},
      {"InvalidAccount", {FailureKind::usage, "there is no such account"}},
      {"InvalidQOS", {FailureKind::usage, "there is no such quality of service"}},
      {"AssocGrpBilling", {FailureKind::space, "its account has nothing left"}},
      {"AssocMaxNodePerJobLimit", {FailureKind::usage, "it asks for more nodes than its account gives"}},
  }};
  const auto found = std::ranges::find(known, reason, &std::pair<std::string_view, JobObstacle>::first);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

namespace {

// "12[]" is an array and "12[3]" a task of it; a range would be more of them than the job that was submitted.
bool has_one_task_at_most(std::string_view id) {
  const auto open = id.find('[');
  if (open == id.npos) return id.find(']') == id.npos;
  const auto close = id.find(']', open);
  return close != id.npos && id.find_first_of("[]", close + 1) == id.npos &&
         std::ranges::all_of(id.substr(open + 1, close - open - 1), [](char c) { return is_digit(c); });
}

}  // namespace

bool is_job_id(std::string_view text) {
  const auto mark = text.find(';');
  const std::string_view number = text.substr(0, mark);
  const auto good = [](std::string_view word, std::string_view marks) {
    return !word.empty() && word.front() != '-' && word.front() != '.' && is_of(word, marks);
  };
  if (text.size() > 128 || !good(number, "._-[]")) return false;
  if (!has_one_task_at_most(number)) return false;
  if (mark != text.npos && (!is_digit(number.front()) || !good(text.substr(mark + 1), "._-"))) return false;
  const bool is_zero = number.substr(0, number.find_first_of("[_-")).find_first_not_of('0') == number.npos;
  return (!is_zero || number.find('.') != number.npos) && to_lower(number) != "all";
}

}  // namespace sabath
