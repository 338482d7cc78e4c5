#include "base/kept_for_others.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "base/file.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t mark_bytes_max = 64 << 10;

// Of this user, root, or the owner of the directory: in /tmp anyone may leave a file of that name.
bool is_mark(const fs::path& place, const char* name) {
  const auto status = try_lstat(place / name);
  if (!status || !S_ISREG(status->st_mode)) return false;
  if (status->st_uid == ::geteuid() || status->st_uid == 0) return true;
  const auto above = try_stat(place);
  return above && above->st_uid == status->st_uid;
}

// docs/store.md, "Layout": its user wrote what stands below recipes/.
bool is_room_with_content(const fs::path& store, const std::string& room) {
  if (room == "recipes" || room.starts_with("recipes.") || !is_mark(store, "format")) return false;
  const auto text = try_read_text(store / "format", mark_bytes_max);
  return text && text->find("\"sabath-store\"") != text->npos;
}

bool is_catalogue_of_others(const fs::path& place) {
  return place.parent_path().filename() == "catalogues" && is_mark(place, "subscription.json");
}

// docs/runs.md: RUN/source is what a model brought.
bool is_copy_of_code(const fs::path& run, const std::string& name) {
  return name == "source" && is_mark(run, "run.json");
}

// docs/jobs.md: the record that another machine sent as the lock of a job.
bool is_lock_of_job(const fs::path& job, const std::string& name) {
  return name == "lock.json" && is_mark(job, "job.json");
}

}  // namespace

std::optional<std::string> why_kept_for_others(const fs::path& real) {
  std::string name = real.filename().native();
  for (fs::path place = real.parent_path(); place.has_relative_path(); place = place.parent_path()) {
    const auto because = [&](std::string_view what) {
      return fmt::format("others wrote what is in {} {}", what, printable(place.native(), 1000));
    };
    try {
      if (is_room_with_content(place, name)) return because("the store");
      if (is_catalogue_of_others(place)) return because("the catalogue");
      if (is_copy_of_code(place, name)) return because("the run");
      if (is_lock_of_job(place, name)) return because("the job");
    } catch (const Error&) {  // a mark that this user cannot read is no mark that SABATH made for him
    }
    name = place.filename().native();
  }
  return std::nullopt;
}

}  // namespace sabath
