#include "jobs/job_directory.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "base/json_reader.h"
#include "base/ownership.h"
#include "base/text.h"
#include "jobs/job_plan.h"
#include "record/run_record.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t job_file_max = 4 << 20, end_file_max = 1 << 20;
constexpr std::size_t looked_at_max = 10'000;  // entries of a directory
constexpr std::string_view job_file = "job.json";

bool is_own_directory(const fs::path& place, std::span<const std::uint32_t> trusted) {
  const auto status = try_lstat(place);
  return status && S_ISDIR(status->st_mode) && !why_job_of_others(place, trusted);
}

// A plain file of this user, in a directory of his; no FIFO, no device, no symlink to one.
bool is_own_file(const fs::path& place, std::span<const std::uint32_t> trusted) {
  const auto status = try_lstat(place);
  return status && S_ISREG(status->st_mode) && is_own_directory(place.parent_path(), trusted) &&
         !why_job_of_others(place, trusted);
}

// As much as a run's record, whose time is a hint only, needs: its group may have written it.
bool is_own_run_part(const fs::path& place, mode_t type) {
  const auto status = try_lstat(place);
  return status && (status->st_mode & S_IFMT) == type && (status->st_mode & S_IWOTH) == 0 &&
         (status->st_uid == ::geteuid() || status->st_uid == 0);
}

// This user's directories in it whose names begin so, as they come.
std::vector<fs::path> own_directories_in(const fs::path& place, std::string_view begin = "") {
  std::vector<fs::path> found;
  std::error_code none;
  std::size_t seen = 0;
  for (fs::directory_iterator entry(place, none), end; entry != end && !none; entry.increment(none)) {
    if (++seen > looked_at_max) break;
    if (entry->path().filename().native().starts_with(begin) && is_own_run_part(entry->path(), S_IFDIR))
      found.push_back(entry->path());
  }
  return found;
}

void look_at_run(const fs::path& directory, const std::string& model, const std::string& dataset,
                 std::optional<double>& longest) {
  std::optional<RunRecord> run;
  try {
    if (!is_own_run_part(directory / "run.json", S_IFREG)) return;
    run = try_read_run_record(directory);
  } catch (const Error&) {  // a file of another program: no record to learn from
    return;
  }
  if (!run || run->state != "finished" || !run->recipe || run->recipe->name != model || !run->times.train) return;
  const auto is_it = [&](const RunRecord::Asset& asset) { return asset.name == dataset; };
  if (!dataset.empty() && (!run->assets || std::ranges::none_of(*run->assets, is_it))) return;
  const double seconds = *run->times.train + run->times.verify.value_or(0) + run->times.launch.value_or(0);
  if (std::isfinite(seconds)) longest = std::max(longest.value_or(0), seconds);
}

// Of one file or directory.
std::optional<std::string> why_others_write(const struct stat& status) {
  if (S_ISLNK(status.st_mode)) {
    if (status.st_uid == ::geteuid() || status.st_uid == 0) return std::nullopt;
    return fmt::format("uid {} owns the symlink", status.st_uid);
  }
  return why_not_own(status, ::geteuid(), std::nullopt);
}

}  // namespace

std::optional<std::string> why_job_of_others(const fs::path& place, std::span<const std::uint32_t> trusted) {
  std::error_code unknown;
  const fs::path named = fs::absolute(place, unknown).lexically_normal();
  const auto link = unknown ? std::nullopt : try_lstat(named.has_filename() ? named : named.parent_path());
  if (!link) return "it is not there";
  if (auto why = why_others_write(*link)) return why;
  fs::path real = fs::canonical(named, unknown);
  if (unknown) return "its symlink leads nowhere";
  const auto status = try_stat(real);
  if (!status) return "it is not there";
  if (auto why = why_others_write(*status)) return why;
  while (real != real.root_path()) {
    real = real.parent_path();
    const auto above = try_stat(real);
    if (above && (above->st_mode & S_IWOTH) != 0 && (above->st_mode & S_ISVTX) == 0)
      return fmt::format("anyone may write its directory {}", printable(real.native(), 1000));
  }
  return why_led_by_others(named, trusted);
}

void refuse_job_of_others(const fs::path& place, std::span<const std::uint32_t> trusted) {
  const auto why = why_job_of_others(place, trusted);
  if (!why) return;
  throw Error(FailureKind::access, fmt::format("{} is not believed: {}", printable(place.native(), 1000), *why),
              "another user could exchange the script, or the ids that are given to the scheduler: take a directory in "
              "which only you write, below directories of yours, of root or of `trusted_owners` of the configuration");
}

HeldDirectory make_job_directory(const fs::path& named, std::span<const std::uint32_t> trusted) {
  const fs::path directory = named.has_filename() ? named : named.parent_path();
  if (directory.has_parent_path()) make_directories(directory.parent_path());
  if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) throw_errno("make", directory, errno);
  refuse_job_of_others(directory, trusted);
  std::error_code unknown;
  if (fs::is_directory(directory, unknown) && !unknown) {
    HeldDirectory held(directory, trusted);
    if (fs::is_empty(held.path(), unknown) && !unknown) return held;
  }
  throw Error(FailureKind::usage, fmt::format("{} is there already", printable(directory.native(), 1000)),
              "name another directory, or none: then one is made");
}

void write_submitted_job(const fs::path& directory, const SubmittedJob& job) {
  nlohmann::ordered_json json{
      {"schema", 1}, {"name", job.name}, {"model", job.model}, {"scheduler", job.scheduler}, {"ids", job.ids}};
  json["fetch_id"] = job.fetch_id.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(job.fetch_id);
  json["tasks"] = job.tasks;
  json["submitted"] = job.submitted;
  write_text_atomically(directory / job_file,
                        json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

std::optional<SubmittedJob> try_read_submitted_job(const fs::path& directory, std::span<const std::uint32_t> trusted) {
  const std::string file = (directory / job_file).string();
  if (!try_lstat(file)) return std::nullopt;
  const auto text = HeldDirectory(directory, trusted).try_read(job_file.data(), job_file_max);
  if (!text) return std::nullopt;
  const JsonValue document = parse_json(*text, file);
  JsonObject object(document, file, "the record of a job");
  if (object.try_uint("schema") != 1U) object.fail("schema", "must be 1");
  SubmittedJob job;
  job.name = object.text("name");
  job.model = object.text("model");
  job.scheduler = object.text("scheduler");
  job.ids = object.texts("ids");
  job.fetch_id = object.try_text("fetch_id").value_or("");
  job.tasks = object.texts("tasks");
  job.submitted =
      static_cast<std::int64_t>(std::min<std::uint64_t>(object.try_uint("submitted").value_or(0), INT64_MAX));
  if (job.ids.size() > job_tasks_max || job.tasks.size() > job_tasks_max)
    object.fail("ids", fmt::format("has more than {} tasks", job_tasks_max));
  object.finish();
  return job;
}

JobTaskEnd parse_job_end(std::string_view text) {
  JobTaskEnd end;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const bool whole = length < text.size();  // the last line may be on its way
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    const auto blank = line.find(' ');
    if (!whole || blank == line.npos) continue;
    const std::string_view word = line.substr(0, blank);
    if (word == "begin") {
      end.steps.clear();
      end.code.reset();
      ++end.begun;
      continue;
    }
    const auto status = try_whole_number(line.substr(blank + 1));
    if (!status || *status > 255) continue;
    if (word == "end") {
      end.code = static_cast<int>(*status);
    } else {
      end.steps.emplace_back(word, static_cast<int>(*status));
    }
  }
  return end;
}

JobTaskEnd read_job_end(const fs::path& directory, std::uint64_t task) {
  return parse_job_end(try_read_text(directory / "ends" / std::to_string(task), end_file_max).value_or(""));
}

int code_of_job_end(int status) {
  constexpr std::array known{0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 70, 130, 143};
  return std::ranges::find(known, status) != known.end() ? status : exit_code(FailureKind::command);
}

std::optional<double> longest_run_in(const fs::path& place, const std::string& model, const std::string& dataset) {
  std::string name = model;
  std::ranges::replace(name, '/', '+');
  std::optional<double> longest;
  for (const fs::path& run : own_directories_in(place, "run_" + name)) look_at_run(run, model, dataset, longest);
  for (const fs::path& sweep : own_directories_in(place, "sweep_" + name)) {
    for (const fs::path& run : own_directories_in(sweep)) look_at_run(run, model, dataset, longest);
  }
  for (const fs::path& job : own_directories_in(place, "job_" + name)) {
    if (!is_own_run_part(job / "runs", S_IFDIR)) continue;
    for (const fs::path& run : own_directories_in(job / "runs")) look_at_run(run, model, dataset, longest);
  }
  return longest;
}

std::optional<std::int64_t> job_walltime(std::optional<double> run_seconds, std::optional<double> fetch_seconds) {
  constexpr double spare = 1.5, fetch_spare = 2, always = 600, most = 30.0 * 86400;
  if (!run_seconds) return std::nullopt;
  const double seconds = *run_seconds * spare + fetch_seconds.value_or(0) * fetch_spare + always;
  return static_cast<std::int64_t>(std::ceil(std::min(seconds, most) / 60)) * 60;
}

std::vector<FoundJob> submitted_jobs_in(const fs::path& place, std::string_view begin, std::vector<fs::path>& unread,
                                        std::span<const std::uint32_t> trusted) {
  std::vector<FoundJob> found;
  for (const fs::path& directory : own_directories_in(place, begin)) {
    try {
      if (!is_own_file(directory / job_file, trusted)) continue;
      if (auto job = try_read_submitted_job(directory, trusted)) found.push_back({directory, std::move(*job)});
    } catch (const Error&) {  // one that is damaged does not hide the others
      unread.push_back(directory);
    }
  }
  std::ranges::sort(found, [](const FoundJob& a, const FoundJob& b) {
    return std::tie(a.job.submitted, a.directory) > std::tie(b.job.submitted, b.directory);
  });
  return found;
}

std::optional<fs::path> newest_job_in(const fs::path& place, const std::string& model, std::vector<fs::path>& unread,
                                      std::span<const std::uint32_t> trusted) {
  std::string name = model;
  std::ranges::replace(name, '/', '+');
  const auto found = submitted_jobs_in(place, "job_" + name, unread, trusted);
  const auto newest = std::ranges::find(found, model, [](const FoundJob& each) { return each.job.model; });
  return newest == found.end() ? std::nullopt : std::optional(newest->directory);
}

}  // namespace sabath
