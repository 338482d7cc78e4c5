#include "jobs/job_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/json_reader.h"
#include "base/text.h"
#include "jobs/job_bounds.h"
#include "jobs/script_quotes.h"
#include "jobs/script_word.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t template_bytes_max = 256 * 1024;
constexpr std::uint64_t mib = 1U << 20U;
constexpr std::int64_t warning_seconds = 90, warned_seconds_min = 600;

// What the places of a template stand for. A place that a scheduler's line may have is in `words`, one of bash in
// `quoted`, and whole lines of bash in `lines`. A known place without a value is in none.
struct PlaceValues {
  std::map<std::string, std::string, std::less<>> words, quoted;
  std::map<std::string, std::vector<std::string>, std::less<>> lines;
};

constexpr std::array<std::string_view, 29> known_places{
    "name",       "nodes",      "ranks",           "ranks_per_node", "cores",        "cores_per_node",
    "gpus",       "memory_mib", "minutes",         "clock",          "partition",    "account",
    "tasks",      "last_task",  "at_once",         "warning",        "directory",    "fetch",
    "stage",      "run",        "arguments",       "report",         "cap",          "variables",
    "task_cases", "steps",      "warning_minutes", "array_name",     "hours_minutes"};

void add_times(const JobResources& resources, PlaceValues& values) {
  if (!resources.seconds) return;
  const std::int64_t minutes = (*resources.seconds + 59) / 60;
  values.words["minutes"] = fmt::to_string(minutes);
  values.words["clock"] = fmt::format("{:02}:{:02}:00", minutes / 60, minutes % 60);
  values.words["hours_minutes"] = fmt::format("{}:{:02}", minutes / 60, minutes % 60);
  if (*resources.seconds < warned_seconds_min) return;
  values.words["warning"] = fmt::to_string(warning_seconds);
  values.words["warning_minutes"] = fmt::to_string((warning_seconds + 59) / 60);
}

void add_resources(const JobPlan& plan, PlaceValues& values) {
  const JobResources& of = plan.resources;
  values.words["name"] = directive_word("name", plan.name);
  values.words["nodes"] = fmt::to_string(of.nodes);
  values.words["ranks"] = fmt::to_string(of.ranks);
  values.words["ranks_per_node"] = fmt::to_string(of.ranks_per_node());
  if (of.cores) values.words["cores"] = fmt::to_string(*of.cores);
  values.words["cores_per_node"] = fmt::to_string(of.cores.value_or(1) * of.ranks_per_node());
  if (of.gpus) values.words["gpus"] = fmt::to_string(*of.gpus);
  if (of.memory_bytes)
    values.words["memory_mib"] = fmt::to_string(*of.memory_bytes / mib + (*of.memory_bytes % mib != 0 ? 1 : 0));
  if (!of.partition.empty()) values.words["partition"] = directive_word("partition", of.partition);
  if (!of.account.empty()) values.words["account"] = directive_word("account", of.account);
  add_times(of, values);
  if (plan.tasks.empty()) return;
  values.words["tasks"] = fmt::to_string(plan.tasks.size());
  values.words["last_task"] = fmt::to_string(plan.tasks.size() - 1);
  if (plan.at_once) values.words["at_once"] = fmt::to_string(*plan.at_once);
}

std::vector<std::string> task_cases(const JobPlan& plan) {
  if (plan.tasks.empty()) return {};
  std::vector<std::string> lines{"case $task in"};
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const JobTask& task = plan.tasks[i];
    lines.push_back(
        fmt::format("  {}) name={} settings=({}) ;;", i, script_word(task.name), script_words(task.settings)));
  }
  lines.emplace_back("esac");
  return lines;
}

PlaceValues values_of(const JobPlan& plan) {
  PlaceValues values;
  add_resources(plan, values);
  const auto command = [&](const char* place, const std::vector<std::string>& argv) {
    if (!argv.empty()) values.quoted[place] = script_words(argv);
  };
  values.quoted["directory"] = script_word(plan.directory.native());
  command("fetch", plan.fetch);
  command("stage", plan.stage);
  command("run", plan.run);
  command("report", plan.report);
  command("cap", plan.cap);
  if (!plan.run.empty()) values.quoted["arguments"] = script_words(plan.arguments);
  std::vector<std::string>& variables = values.lines["variables"];
  for (const auto& [name, value] : plan.variables) {
    const bool good = !name.empty() && !is_digit(name.front()) && std::ranges::all_of(name, [](char c) {
      return c == '_' || is_digit(c) || (c >= 'A' && c <= 'Z');
    });
    if (!good) throw Error(FailureKind::usage, fmt::format("'{}' is no name of a variable", printable(name)));
    variables.push_back(fmt::format("export {}={}", name, script_word(value)));
  }
  values.lines["task_cases"] = task_cases(plan);
  return values;
}

bool is_place_letter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

// Where the place at `begin` ends, behind its second @; npos: there is none.
std::size_t place_end(std::string_view line, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < line.size() && is_place_letter(line[at])) ++at;
  return at > begin + 1 && at < line.size() && line[at] == '@' ? at + 1 : line.npos;
}

class JobForm {
 public:
  JobForm(const JobPlan& plan, const JobScheduler& scheduler, const JobTemplate& form)
      : values_(values_of(plan)), scheduler_(scheduler), form_(form) {}

  std::string fill() {
    add(form_.text, form_.origin, false);
    if (!quotes_.is_closed()) {
      throw_at(origin_, line_, "ends inside of a quote, a substitution or a here-document", "close what it opens");
    }
    for (const auto& [what, places] : must_be_used()) {
      const bool used = std::ranges::any_of(places, [&](const char* place) { return used_.contains(place); });
      const bool given = std::ranges::any_of(places, [&](const char* place) {
        const auto quoted = values_.quoted.find(place);
        return values_.words.contains(place) || (quoted != values_.quoted.end() && !quoted->second.empty());
      });
      if (given && !used) {
        throw Error(FailureKind::usage, fmt::format("the template {} has no place for {}", form_.origin, what),
                    "leave it out, or add the place to a template of your own");
      }
    }
    return std::move(script_);
  }

 private:
  struct Needed {
    const char* what;
    std::vector<const char*> places;
  };
  [[nodiscard]] std::vector<Needed> must_be_used() const {
    std::vector<Needed> needed{{"GPUs", {"gpus"}},
                               {"memory", {"memory_mib"}},
                               {"an account", {"account"}},
                               {"a partition", {"partition"}},
                               {"the command that fetches", {"fetch"}},
                               {"the command that stages", {"stage"}},
                               {"the command that runs", {"run"}},
                               {"arguments of the run", {"arguments"}},
                               {"the command that reports", {"report"}},
                               {"the cap of the nodes' disks", {"cap"}},
                               {"the time", {"minutes", "clock", "hours_minutes"}},
                               {"the job's directory", {"directory"}}};
    if (scheduler_.arrays) {
      needed.push_back({"the tasks of an array", {"tasks", "last_task"}});
      needed.push_back({"tasks at once", {"at_once"}});
    }
    return needed;
  }

  void add(std::string_view text, const std::string& origin, bool is_inner) {
    if (text.size() > template_bytes_max) throw_at(origin, 1, "is too long for a template of jobs");
    if (const auto bad = text.find_first_of(std::string_view("\r\0", 2)); bad != text.npos) {
      throw_at(origin, 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, bad), '\n')),
               "has a carriage return or a byte 0, which schedulers and bash do not read", "write it with plain lines");
    }
    origin_ = origin;
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      line_ = number;
      add_line(text.substr(0, end), is_inner);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  void add_line(std::string_view line, bool is_inner) {
    const std::string_view alone = trim(line);
    if (alone == "@steps@") {
      if (is_inner) throw_at(origin_, line_, "@steps@ is this template itself");
      refuse_quoted(alone, quotes_.is_closed());
      const std::string outer = origin_;
      const std::size_t number = line_;
      add(form_.steps_text, form_.steps_origin, true);
      origin_ = outer;
      line_ = number;
      return;
    }
    if (alone.size() > 2 && place_end(alone, 0) == alone.size()) {
      const auto lines = values_.lines.find(alone.substr(1, alone.size() - 2));
      if (lines != values_.lines.end()) {
        refuse_quoted(alone, quotes_.is_closed());
        for (const std::string& each : lines->second) script_ += each + "\n";
        return;
      }
    }
    const auto filled = alone.starts_with(scheduler_.directive) ? directive(line) : bash(line);
    if (filled) script_ += *filled + "\n";
  }

  void refuse_quoted(std::string_view place, bool is_good) const {
    if (is_good) return;
    throw_at(origin_, line_,
             fmt::format("{} must be a word by itself, outside of quotes and here-documents, on a line that opens and "
                         "closes none",
                         place),
             "its value is quoted already");
  }

  // nullopt: it is known, and has no value.
  std::optional<std::string> value(std::string_view place, bool in_directive) {
    used_.insert(std::string(place));
    const auto& of = in_directive ? values_.words : values_.quoted;
    if (const auto found = of.find(place); found != of.end()) return found->second;
    const bool elsewhere = in_directive ? values_.quoted.contains(place) || values_.lines.contains(place)
                                        : values_.words.contains(place) || values_.lines.contains(place);
    if (elsewhere || !is_among(place, known_places)) {
      throw_at(origin_, line_,
               fmt::format("@{}@ is no place of {}", place,
                           in_directive ? "a line that the scheduler reads" : "a line of bash"),
               "docs/jobs.md has the places of templates");
    }
    return std::nullopt;
  }

  std::optional<std::string> directive(std::string_view line) {
    std::string text, part;
    bool in_part = false, part_empty = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
      const char c = line[at];
      if (c == '{' && !in_part) {
        in_part = true, part_empty = false, part.clear();
      } else if (c == '}' && in_part) {
        if (!part_empty) text += part;
        in_part = false;
      } else if (const std::size_t end = c == '@' ? place_end(line, at) : line.npos; end != line.npos) {
        const auto found = value(line.substr(at + 1, end - at - 2), true);
        if (!found && !in_part) return std::nullopt;
        part_empty = part_empty || !found;
        (in_part ? part : text) += found.value_or("");
        at = end - 1;
      } else {
        (in_part ? part : text) += c;
      }
    }
    if (in_part) throw_at(origin_, line_, "a brace is not closed");
    return text;
  }

  std::optional<std::string> bash(std::string_view line) {
    const std::string before = quotes_.what_is_open();
    const bool in_document = quotes_.begin_line(line);
    std::string text;
    std::string_view place;  // the last one
    bool has_all = true;
    for (std::size_t at = 0, next = 0; at < line.size(); at = next) {
      const std::size_t end = line[at] == '@' ? place_end(line, at) : line.npos;
      next = in_document ? at + 1 : end == line.npos ? quotes_.read(line, at) : end;
      if (end == line.npos || quotes_.is_comment()) {
        text += line.substr(at, next - at);
        continue;
      }
      place = line.substr(at, end - at);
      const bool alone = (at == 0 || std::string_view(" \t=(").find(line[at - 1]) != std::string_view::npos) &&
                         (end == line.size() || std::string_view(" \t);").find(line[end]) != std::string_view::npos);
      refuse_quoted(place, !in_document && quotes_.is_plain() && alone);
      const auto found = value(place.substr(1, place.size() - 2), false);
      has_all = has_all && found;
      text += found.value_or("");
    }
    if (!in_document) quotes_.end_line();
    // A line that is left out must leave the others as they are.
    refuse_quoted(place, place.empty() || quotes_.what_is_open() == before);
    return has_all ? std::optional(text) : std::nullopt;
  }

  PlaceValues values_;
  const JobScheduler& scheduler_;
  const JobTemplate& form_;
  std::string script_, origin_;
  std::size_t line_ = 0;
  std::set<std::string, std::less<>> used_;
  ScriptQuotes quotes_;
};

}  // namespace

std::string job_script(const JobPlan& plan, const JobScheduler& scheduler, const JobTemplate& form) {
  if (plan.tasks.size() > job_tasks_max)
    throw Error(FailureKind::usage, fmt::format("a job has at most {} tasks", job_tasks_max));
  refuse_out_of_bounds(plan);
  if (!plan.directory.is_absolute()) throw Error(FailureKind::usage, "the directory of a job must be absolute");
  return JobForm(plan, scheduler, form).fill();
}

}  // namespace sabath
