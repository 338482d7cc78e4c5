#include "store/disk/writer_logs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <span>
#include <utility>

#include "sabath/error.h"
#include "store/disk/layout.h"
#include "store/disk/listing.h"

namespace sabath {
namespace {

constexpr int readings_max = 8;  // if writers come and go all the time, hints are lost instead

}  // namespace

WriterLogs::WriterLogs(std::filesystem::path directory, WriterId writer, const Owners& owners, Members members)
    : directory_(std::move(directory)), writer_(std::move(writer)), owners_(owners), members_(std::move(members)) {}

std::filesystem::path WriterLogs::own() const { return directory_ / fmt::format("{}{}", writer_.text(), log_suffix); }

std::vector<std::filesystem::path> WriterLogs::list() const {
  std::vector<std::filesystem::path> logs;
  for (const auto& room : believed_rooms(directory_, owners_)) {
    try {
      std::ranges::move(list_directory(room), std::back_inserter(logs));
    } catch (const Error&) {}  // none can be read
  }
  std::erase_if(logs, [](const auto& file) { return !file.native().ends_with(log_suffix); });
  std::ranges::sort(logs);
  return logs;
}

void WriterLogs::read(const std::function<void(const std::filesystem::path& log)>& visit) const {
  std::vector<std::filesystem::path> logs = list();
  for (int i = 0; i < readings_max; ++i) {
    for (const auto& log : logs) {
      try {
        visit(log);
      } catch (const Error&) {
        continue;  // another user's, or damaged
      }
    }
    if (std::exchange(logs, list()) == logs) return;
  }
}

std::vector<std::filesystem::path> WriterLogs::of_the_dead() const {
  std::vector<std::filesystem::path> dead;
  for (auto& log : list()) {
    const auto writer = WriterId::try_parse(log.stem().native());
    if (!writer || !is_over(*writer, log)) continue;
    if (::access(log.parent_path().c_str(), W_OK) != 0) continue;  // another user's, who takes it over himself
    if (try_open_trusted(owners_, log)) dead.push_back(std::move(log));
  }
  return dead;
}

// A writer that cannot be judged, and was silent for so long, loses hints at worst if it goes on.
bool WriterLogs::is_over(const WriterId& writer, const std::filesystem::path& log) const {
  constexpr std::time_t silence_max_s = 24 * 3600;
  const Life life = life_of(writer, writer_.host);
  const auto s = life == Life::unknown ? try_lstat(log) : std::nullopt;
  return life == Life::dead || (s && std::time(nullptr) - s->st_mtime > silence_max_s);
}

bool WriterLogs::append(std::string_view records) {
  if (read_only_) return false;
  try {
    if (!log_) {
      members_.make_directories(directory_);
      log_ = members_.create(own(), O_WRONLY | O_CREAT | O_EXCL, own_file_mode);
    }
    write_all_at(log_.get(), std::as_bytes(std::span(records)), log_size_, directory_);
    log_size_ += records.size();
    return true;
  } catch (const Error&) {
    read_only_ = true;
    return false;
  }
}

}  // namespace sabath
