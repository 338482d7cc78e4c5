#include "conda/conda_prefix.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "base/file.h"
#include "conda/conda_notes.h"
#include "conda/conda_place.h"
#include "conda/conda_tree.h"
#include "packing/interpreter_tree.h"
#include "packing/tree_copy.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t conda_records_max = 10'000;

std::vector<fs::path> record_files(const fs::path& prefix) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(prefix / "conda-meta", error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".json") files.push_back(at->path());
  if (files.size() > conda_records_max)
    throw Error(FailureKind::invalid, fmt::format("conda-meta has more than {} records", conda_records_max));
  std::ranges::sort(files);
  return files;
}

// What conda keeps for itself: caches, other environments, settings, which may hold passwords.
bool is_of_conda_itself(const std::string& path) {
  for (const char* name : {"pkgs", "envs", "conda-meta", "conda-bld", "locks", ".condarc", "condarc", "etc/condarc",
                           "etc/conda/condarc", ".cph_tmp", ".mambarc", "etc/conda/.condarc"})
    if (path == name) return true;
  return path.ends_with(".conda_trash") || path.find(".conda_trash_") != std::string::npos || path.ends_with(".c~");
}

class CondaPrefixPacking {
 public:
  CondaPrefixPacking(Programs& programs, const PackOrder& order, const std::string& place, const std::string& name)
      : programs_(programs), order_(order), name_(name), source_(prefix_source(order.prefix, false, true)) {
    naming_.place = place;
  }

  PackedTree run() {
    refuse_store_inside(order_, source_);
    refuse_exchangeable(programs_, source_);
    read_records();
    check_room(naming_, name_);
    std::vector<fs::path> places{source_.root, source_.given};
    copy(places);
    const std::set<std::string> changed = put_place();
    PackedTree tree;
    tree.form = "conda";
    if (!naming_.files.empty()) {
      places.emplace_back(naming_.place);
      tree.remarks.push_back(remark_of_place(naming_.place, name_));
    } else if (!naming_.place.empty()) {
      tree.remarks.push_back("no file of it names a place: it works in any");
    }
    drop_origins(order_.to, theirs_, library_of(source_));
    const fs::path place = naming_.files.empty() ? fs::path() : fs::path(naming_.place);
    const auto names = names_of(order_.to, theirs_);
    add_remarks(tree);
    finish_tree(programs_, order_, {source_, std::move(places), place, changed, packages_, names}, tree);
    return tree;
  }

 private:
  void read_records() {
    for (const fs::path& file : record_files(source_.root)) {
      const std::string origin = "conda-meta/" + printable(file.filename().native());
      const auto text = try_read_text(file, conda_note_max);
      if (!text) throw Error(FailureKind::changed, fmt::format("{} is gone", origin), "pack it again");
      CondaRecord record = parse_conda_record(*text, origin);
      const std::string label = record.name + " " + record.version;
      for (CondaPath& path : record.paths) {
        if (is_note_of_python(path.path)) theirs_.insert(path.path);
        if (path.placeholder.empty() || is_left_out(path.path)) continue;
        const auto status = try_lstat(source_.root / path.path);
        if (!status || !S_ISREG(status->st_mode)) continue;  // removed, or replaced, since
        naming_.files.push_back({path.path, label, path.placeholder.size(), path.is_binary, {}});
      }
      packages_.push_back(
          {record.name, record.version, record.build, record.channel, record.sha256, record.size_bytes});
    }
  }

  [[nodiscard]] bool is_left_out(const std::string& path) const {
    if (path.find("__pycache__/") != std::string::npos) return true;
    return is_of_conda_itself(path.substr(0, path.find('/'))) || is_of_conda_itself(path) ||
           is_left_out_of_prefix(source_, path);
  }

  void copy(const std::vector<fs::path>& places) {
    TreeCopy copying(order_.to, places, order_.stop, order_.admit);
    copying.add(source_.root, "", [this](const std::string& path) {
      return is_of_conda_itself(path) || is_left_out_of_prefix(source_, path);
    });
    link_interpreter_names(order_.to, source_);
    copying.finish();
  }

  // The path by which conda knew the prefix: the one that the user gave, or the real one.
  std::set<std::string> put_place() {
    std::set<std::string> changed;
    std::erase_if(naming_.files, [this](const NamingFile& file) { return !try_lstat(order_.to / file.path); });
    std::uint64_t times = 0;
    for (NamingFile& file : naming_.files) {
      file.old = {source_.root.native()};
      if (source_.given != source_.root) file.old.push_back(source_.given.native());
      if (const std::uint64_t here = put_place_into(order_.to / file.path, file, naming_.place, true); here > 0) {
        times += here;
        changed.insert(file.path);
      }
    }
    if (times == 0 && !naming_.files.empty())
      throw Error(FailureKind::invalid,
                  fmt::format("no file of {} names it, though {} should: it was moved or copied",
                              printable(source_.given.native(), 1000), printable(naming_.files.front().path)),
                  "name the prefix that conda filled, by the path that conda got");
    return changed;
  }

  void add_remarks(PackedTree& tree) const {
    tree.remarks.emplace_back(
        "conda-meta is left out: environment.json lists the packages, and conda changes none of them");
    if (auto remark = remark_of_activation(order_.to)) tree.remarks.push_back(std::move(*remark));
  }

  Programs& programs_;
  const PackOrder& order_;
  const std::string& name_;
  const PrefixSource source_;
  PlaceNaming naming_;
  std::vector<FoundPackage> packages_;
  std::set<std::string> theirs_;  // METADATA of Python packages that conda brought
};

}  // namespace

bool is_conda_prefix(const fs::path& prefix) { return !record_files(prefix).empty(); }

PackedTree pack_conda_prefix(Programs& programs, const PackOrder& order, const std::string& place,
                             const std::string& name) {
  return CondaPrefixPacking(programs, order, place, name).run();
}

}  // namespace sabath
