#include "run/run_directory.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>

#include "base/wording.h"
#include "metrics/record.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t outputs_max = 1000;
constexpr std::size_t kept_bytes_max = 1 << 20;  // of metrics that a full disk did not take
constexpr off_t held_bytes = 256 << 10;          // more than a run.json takes
constexpr const char* held_name = ".room";

void append(const Fd& fd, std::string_view text, const std::filesystem::path& name) {
  write_all(fd.get(), std::as_bytes(std::span(text)), name);
}

}  // namespace

std::string new_run_id() {
  std::random_device random;
  return fmt::format("{:%Y%m%dT%H%M%S}-{:06x}", fmt::gmtime(std::time(nullptr)), random() & 0xffffffU);
}

RunDirectory::RunDirectory(const std::filesystem::path& path) : path_(path) {
  std::error_code unknown;
  if (try_lstat(path) && !std::filesystem::is_empty(path, unknown)) {
    throw Error(FailureKind::usage, fmt::format("{} is there already", printable(path.string(), 4096)),
                "a record is never written over: name another directory with " + option_text("run_dir"));
  }
  make_directories(path);
  make_directories(work());
  make_directories(path / "output");
  metrics_ = append_to("metrics.jsonl");
  table_ = append_to("metrics.csv");
  resources_ = append_to("resources.jsonl");
  hold_room();
  append(table_, std::string(metric_csv_head) + "\n", path / "metrics.csv");
}

Fd RunDirectory::append_to(const std::filesystem::path& name) const {
  return open_file(path_ / name, O_WRONLY | O_CREAT | O_APPEND);
}

void RunDirectory::write_run(const RunRecord& record) {
  write_text_atomically(path_ / "run.json",
                        to_json(record).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void RunDirectory::add(const Metric& metric) {
  metric_lines_ += metric_json(metric) + "\n";
  table_lines_ += metric_csv(metric) + "\n";
}

void RunDirectory::flush() {
  flush(metric_lines_, metrics_, "metrics.jsonl");
  flush(table_lines_, table_, "metrics.csv");
}

void RunDirectory::flush(std::string& lines, const Fd& fd, const char* name) {
  if (lines.empty()) return;
  const bool written = try_append(fd, lines, path_ / name);
  if (!written && lines.size() <= kept_bytes_max) return;
  if (!written) give_up(lines);
  lines.clear();
}

void RunDirectory::add_output(const std::string& name, std::string_view bytes) {
  auto found = outputs_.find(name);
  if (found == outputs_.end()) {
    if (outputs_.size() >= outputs_max) return add_output(name.substr(0, name.find('.')), bytes);
    Fd file;
    if (!unless_failing([&] { file = append_to("output/" + name); })) return give_up(bytes);
    found = outputs_.emplace(name, std::move(file)).first;
  }
  if (!try_append(found->second, bytes, path_ / "output" / name)) give_up(bytes);
}

void RunDirectory::add_resources(std::string_view line) {
  if (!try_append(resources_, std::string(line) + "\n", path_ / "resources.jsonl")) give_up(line);
}

void RunDirectory::finish() {
  flush();
  for (std::string* lines : {&metric_lines_, &table_lines_}) {
    if (!lines->empty()) give_up(*lines);
    lines->clear();
  }
  std::error_code unknown;
  std::filesystem::remove(path_ / held_name, unknown);
}

RunDirectory::Unwritten RunDirectory::unwritten() const {
  const std::lock_guard lock(mutex_);
  return unwritten_;
}

// All of it or nothing: a reader finds no torn line before the next one.
bool RunDirectory::try_append(const Fd& fd, std::string_view text, const std::filesystem::path& name) {
  struct stat before {};
  const bool known = ::fstat(fd.get(), &before) == 0;
  return unless_failing([&] {
    try {
      append(fd, text, name);
    } catch (const Error&) {
      if (known && ::ftruncate(fd.get(), before.st_size) != 0) {}  // it failed before
      throw;
    }
  });
}

// Runs `act`; false: the disk is full, or fails.
bool RunDirectory::unless_failing(const std::function<void()>& act) {
  try {
    act();
    return true;
  } catch (const Error& error) {
    const FailureKind kind = error.failure().kind;
    if (kind != FailureKind::space && kind != FailureKind::storage) throw;
    const std::lock_guard lock(mutex_);
    if (unwritten_.why.empty()) unwritten_.why = error.failure().message;
    return false;
  }
}

void RunDirectory::give_up(std::string_view text) {
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
  const std::lock_guard lock(mutex_);
  unwritten_.lines += std::max<std::uint64_t>(lines, 1);
}

// A run on a disk that fills up can still say how it ended. Where no room can be held the run begins all the same.
void RunDirectory::hold_room() const {
  const Fd room(::open((path_ / held_name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (room.get() >= 0) static_cast<void>(::posix_fallocate(room.get(), 0, held_bytes));
}

std::optional<std::string> try_run_state(const std::filesystem::path& directory) {
  try {
    const auto record = try_read_run_record(directory);
    return record ? std::optional(record->state) : std::nullopt;
  } catch (const Error&) {  // not ours, or not readable: nothing is known of it
    return std::nullopt;
  }
}

}  // namespace sabath
