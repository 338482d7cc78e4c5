#include "trackers/tracker_places.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/file.h"
#include "sabath/error.h"
#include "trackers/mlflow_database.h"
#include "trackers/sqlite_file.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t names_max = 100'000, files_max = 20'000;
constexpr int depth_max = 12;

constexpr std::array parts_of_data{"train", "training", "val",        "valid", "validation",
                                   "test",  "eval",     "evaluation", "dev"};

bool is_regular(const fs::path& path) {
  const auto status = try_stat(path);
  return status && S_ISREG(status->st_mode);
}

std::string front_of(const fs::path& path) {
  constexpr std::size_t front_bytes = 64;
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string front(front_bytes, '\0');
  if (!fd) return {};
  front.resize(read_at(fd.get(), std::as_writable_bytes(std::span(front)), 0, path));
  return front;
}

// TensorBoard's own rule for names of event files.
bool is_event_name(std::string_view name) {
  return name.find("tfevents") != std::string_view::npos && !name.ends_with(".profile-empty");
}

bool is_database_name(const fs::path& path) {
  const std::string ending = path.extension().string();
  return ending == ".db" || ending == ".sqlite" || ending == ".sqlite3";
}

class PlaceSearch {
 public:
  explicit PlaceSearch(bool databases) : databases_(databases) {}

  void walk(const fs::path& directory, int depth) {
    std::error_code unreadable;  // another user's directory holds nothing for us
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator at(directory, unreadable), end; !unreadable && at != end && seen_ < names_max;
         at.increment(unreadable), ++seen_) {
      entries.push_back(*at);
    }
    std::ranges::sort(entries, {}, [](const fs::directory_entry& entry) { return entry.path().filename(); });
    const auto has = [&](const char* name) {
      return std::ranges::any_of(entries, [&](const auto& entry) { return entry.path().filename() == name; });
    };
    if (directory.filename() == "models" && is_regular(directory.parent_path() / "meta.yaml"))
      return;  // MLflow's, no runs
    if (has("meta.yaml") && has("metrics")) return take_mlflow_run(directory);
    for (const fs::directory_entry& entry : entries) {
      std::error_code gone;
      const std::string name = entry.path().filename().string();
      if (entry.is_directory(gone)) {
        if (depth < depth_max && !entry.is_symlink(gone)) walk(entry.path(), depth + 1);
      } else if (entry.is_regular_file(gone)) {
        take_file(entry.path(), name);
      }
    }
  }

  void take_mlflow_run(const fs::path& directory) {
    TrackerPlace& place = places_.emplace_back(TrackerPlace{directory, {}});
    std::error_code unreadable;
    std::vector<fs::path> files;
    for (fs::recursive_directory_iterator at(directory / "metrics", unreadable), end;
         !unreadable && at != end && seen_ < names_max; at.increment(unreadable), ++seen_) {
      if (at.depth() > depth_max) at.disable_recursion_pending();
      if (at->is_regular_file(unreadable)) files.push_back(at->path());
    }
    std::ranges::sort(files);
    for (fs::path& file : files) add(place, {TrackerKind::mlflow_files, std::move(file), ""});
  }

  void take_database(const fs::path& path) {
    for (const std::string& id : mlflow_run_ids(path)) {
      places_.push_back({path / id, {{TrackerKind::mlflow_database, path / id, ""}}});
    }
  }

  std::vector<TrackerPlace> take() {
    take_event_directories();
    std::ranges::stable_sort(places_, {}, &TrackerPlace::base);
    return std::move(places_);
  }

 private:
  void take_file(const fs::path& path, const std::string& name) {
    if (is_event_name(name)) event_directories_[path.parent_path()].push_back(path);
    if (name.starts_with("run-") && name.ends_with(".wandb"))
      places_.push_back({path, {{TrackerKind::wandb, path, ""}}});
    if (databases_ && is_database_name(path) && is_sqlite_file(front_of(path))) {
      try {
        take_database(path);
      } catch (const Error&) {}  // another program's, or damaged: who names it is told
    }
  }

  // The nearest directory above that has event files, else the parent of a part of the data, else itself.
  [[nodiscard]] fs::path base_of(const fs::path& directory) const {
    fs::path base = directory;
    const std::string name = directory.filename().string();
    if (std::ranges::find(parts_of_data, name) != parts_of_data.end() && directory.has_parent_path())
      base = directory.parent_path();
    for (fs::path above = directory.parent_path(); above.has_relative_path(); above = above.parent_path()) {
      if (event_directories_.contains(above)) base = above;
    }
    return base;
  }

  // A directory named by a time is what add_hparams() of PyTorch makes: its name says nothing.
  static std::string front_of_directory(const fs::path& directory, const fs::path& base) {
    const std::string front = directory.lexically_relative(base).string();
    const bool time = front.find_first_not_of("0123456789.") == std::string::npos;
    return time ? "" : front + "/";
  }

  void take_event_directories() {
    std::map<fs::path, TrackerPlace> by_base;
    for (const auto& [directory, files] : event_directories_) {
      const fs::path base = base_of(directory);
      TrackerPlace& place = by_base.try_emplace(base, TrackerPlace{base, {}}).first->second;
      for (const fs::path& file : files)
        add(place, {TrackerKind::tensorboard, file, front_of_directory(directory, base)});
    }
    for (auto& [base, place] : by_base) places_.push_back(std::move(place));
  }

  void add(TrackerPlace& place, TrackerFile file) {
    if (files_++ < files_max) place.files.push_back(std::move(file));
  }

  const bool databases_;
  std::size_t seen_ = 0, files_ = 0;
  std::map<fs::path, std::vector<fs::path>> event_directories_;
  std::vector<TrackerPlace> places_;
};

}  // namespace

std::vector<TrackerPlace> find_tracker_places(const fs::path& path, bool databases) {
  PlaceSearch search(databases);
  if (const auto status = try_stat(path); status && S_ISDIR(status->st_mode)) {
    search.walk(path, 0);
    return search.take();
  }
  if (!is_regular(path)) {  // DATABASE/RUN
    const fs::path database = path.parent_path();
    if (!is_regular(database) || !is_sqlite_file(front_of(database))) return {};
    return {{path, {{TrackerKind::mlflow_database, path, ""}}}};
  }
  const std::string front = front_of(path);
  if (is_wandb_file(front)) return {{path, {{TrackerKind::wandb, path, ""}}}};
  if (is_event_file(front)) return {{path, {{TrackerKind::tensorboard, path, ""}}}};
  if (is_sqlite_file(front)) {
    search.take_database(path);
    return search.take();
  }
  return {};
}

}  // namespace sabath
