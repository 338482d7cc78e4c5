#include "conda/conda_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "base/file.h"
#include "conda/conda_place.h"
#include "conda/placeholder.h"
#include "packing/mend_packages.h"
#include "packing/rewritten_file.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t naming_bytes_max = std::uint64_t{4} << 30, python_note_max = 16 << 20;
constexpr std::size_t scripts_shown_max = 8;

}  // namespace

void check_room(const PlaceNaming& naming, const std::string& name) {
  if (naming.files.empty()) return;
  if (naming.place.empty()) refuse_without_place(naming.files.front().path, naming.files.front().package, name);
  const NamingFile* least = nullptr;
  for (const NamingFile& file : naming.files)
    if (file.is_binary && (least == nullptr || file.room < least->room)) least = &file;
  if (least == nullptr || naming.place.size() <= least->room) return;
  throw Error(FailureKind::invalid,
              fmt::format("{} of {} has space for a place of {} bytes, and {} has {}", printable(least->path),
                          least->package, least->room, naming.place, naming.place.size()),
              "name a shorter place");
}

std::uint64_t put_place_into(const fs::path& file, const NamingFile& naming, const std::string& place,
                             bool whole_names) {
  std::string text = try_read_text(file, naming_bytes_max).value_or("");
  std::uint64_t times = 0;
  try {
    for (const std::string& old : naming.old) {
      const PlaceSwap swap{old, place, naming.room, whole_names};
      SwappedText swapped = naming.is_binary ? swap_in_binary(text, swap) : swap_in_text(text, swap);
      times = swapped.times;
      text = std::move(swapped.text);
      if (times > 0) break;
    }
  } catch (const Error& error) {
    Failure failure = error.failure();
    failure.message = fmt::format("{} of {} {}", printable(naming.path), naming.package, failure.message);
    throw Error(failure);
  }
  if (times > 0) rewrite_file(file, text);
  return times;
}

bool is_note_of_python(const std::string& path) {
  return path.ends_with(".dist-info/METADATA") || path.ends_with(".egg-info/PKG-INFO") || path.ends_with(".egg-info");
}

std::set<std::pair<std::string, std::string>> names_of(const fs::path& top, const std::set<std::string>& notes) {
  std::set<std::pair<std::string, std::string>> names;
  for (const std::string& note : notes) {
    const auto status = try_lstat(top / note);
    if (!status || !S_ISREG(status->st_mode)) continue;
    FoundPackage package = package_in(try_read_text(top / note, python_note_max).value_or(""));
    names.emplace(std::move(package.name), std::move(package.version));
  }
  return names;
}

void drop_origins(const fs::path& top, const std::set<std::string>& notes, const std::string& library) {
  for (const std::string& note : notes)
    if (note.ends_with(".dist-info/METADATA") && note.starts_with(library + "/"))
      fs::remove((top / note).parent_path() / "direct_url.json");
}

std::optional<std::string> remark_of_activation(const fs::path& top) {
  std::vector<std::string> scripts;
  for (const char* folder : {"etc/conda/activate.d", "etc/conda/deactivate.d"}) {
    std::error_code error;
    for (fs::directory_iterator at(top / folder, error), end; !error && at != end; at.increment(error))
      scripts.push_back(fmt::format("{}/{}", folder, printable(at->path().filename().native())));
  }
  if (scripts.empty()) return std::nullopt;
  std::ranges::sort(scripts);
  const std::size_t all = scripts.size();
  scripts.resize(std::min(all, scripts_shown_max));
  return fmt::format("conda's activate would run {}{}; the environment's own runs none of them",
                     fmt::join(scripts, ", "),
                     all > scripts_shown_max ? fmt::format(" and {} more", all - scripts_shown_max) : "");
}

}  // namespace sabath
