#include "catalogues/export.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_reader.h"
#include "base/wording.h"
#include "catalogues/pin.h"
#include "catalogues/tombstone.h"
#include "catalogues/unique.h"
#include "holdings/holding.h"
#include "metadata/documents.h"
#include "recipe/index_file.h"
#include "recipe/naming.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/metadata.h"
#include "sabath/recipe.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

bool is_an_export(const fs::path& directory) {
  const auto text = try_read_text(directory / "index.json", 64 << 20);
  if (!text) return false;
  try {
    static_cast<void>(parse_index(*text, "index.json"));
    return true;
  } catch (const Error&) {
    return false;
  }
}

class Export {
 public:
  Export(const SessionSettings& settings, const fs::path& directory)
      : settings_(settings), directory_(directory), catalogue_(make_catalogue(settings)) {}

  ExportedCatalogueRecord run(const ExportCatalogueRequest& request, const std::stop_token& stop) {
    check_place();
    pins_ = request.pin;
    stop_ = stop;
    if (request.names.empty()) add_all(request.all);
    for (const std::string& name : request.names) add(catalogue_.find(name, std::nullopt));
    for (const Tombstone& stone : tombstones_in(settings_.recipe_directories)) add(stone);
    if (index_.assets.empty() && index_.tombstones.empty()) {
      throw Error(FailureKind::not_found, "there is no recipe of your own to export",
                  fmt::format("write one first, or say {} for those that came with the program", option_text("all")));
    }
    const std::string text = text_of_index(index_);
    static_cast<void>(parse_index(text, "the index"));  // its bounds
    sweep();
    record_.index = directory_ / "index.json";
    write_text_atomically(record_.index, text, 0644, true);  // last: until then the earlier export counts
    record_.assets = index_.assets.size();
    record_.tombstones = index_.tombstones.size();
    if (!record_.unpinned.empty()) record_.exit = 8;  // some is done
    return std::move(record_);
  }

 private:
  void check_place() const {
    const auto status = try_stat(directory_);
    if (!status) return;
    if (S_ISDIR(status->st_mode) && (fs::is_empty(directory_) || is_an_export(directory_))) return;
    throw Error(FailureKind::usage,
                fmt::format("{} is there, and holds no exported catalogue", printable(directory_.native(), 1000)),
                "name a directory that is empty or not there");
  }

  void add_all(bool shipped_too) {
    const fs::path shipped = shipped_too ? fs::path() : shipped_place(settings_);
    for (const Catalogue::File& file : catalogue_.files()) {
      if (file.registered || !file.catalogue.empty() || is_below(file.path, shipped)) continue;
      const Catalogue::Listed listed = catalogue_.listed(file);
      if (listed.recipe) {
        add(*listed.recipe);
      } else {
        record_.left_out.push_back(listed.problem);
      }
    }
  }

  void add(const Recipe& found) {
    const std::string path = fmt::format("{}/{}.json", kind_folder(found.kind), found.name);
    if (found.name.find('/') != std::string::npos || !is_name(found.name) || !taken_.insert(path).second) return;
    auto text = try_read_text(found.origin, recipe_size_max);
    if (!text) return;
    if (const std::string why = doubt_about(*text, found); !why.empty()) {
      record_.left_out.push_back(why);
      return;
    }
    if (pins_ && has_content(found)) pin(found, *text);
    Recipe recipe = parse_recipe(*text, found.origin, found.kind);
    recipe.origin = found.origin;
    if (const auto part = part_of_this_machine(recipe))
      record_.doubts.push_back(fmt::format("{}: no other machine can read {}", recipe.name, part->url));
    put(path, *text);
    add_code(recipe);
    const std::string document = fmt::format("{}/{}.jsonld", kind_folder(recipe.kind), recipe.name);
    const std::string root = recipe.manifest ? recipe.manifest->digest.prefixed() : "";
    write(document, find_metadata_format("jsonld").write({recipe, root}));
    index_.assets.push_back({std::string(kind_name(recipe.kind)), recipe.name, recipe.version, recipe.title,
                             metadata_of(recipe).id, recipe.licence, path, document});
  }

  // What the store does not hold stays as it is.
  void pin(const Recipe& recipe, std::string& text) {
    try {
      text = pinned_text(settings_, recipe, text, {}, stop_).text;
    } catch (const Error& error) {
      const FailureKind kind = error.failure().kind;
      if (kind != FailureKind::offline && kind != FailureKind::invalid) throw;
      if (!recipe.manifest) record_.unpinned.push_back(fmt::format("{}: {}", recipe.name, error.failure().message));
    }
  }

  // A document of another standard, and a recipe of the original, mean something only where they stand.
  static std::string doubt_about(const std::string& text, const Recipe& recipe) {
    try {
      const Recipe read = parse_recipe(text, recipe.name + ".json", recipe.kind);
      return read.name == recipe.name ? "" : fmt::format("{}: it is called {} elsewhere", recipe.origin, read.name);
    } catch (const Error& error) {
      return error.failure().message;
    }
  }

  void add_code(const Recipe& recipe) {
    std::set<std::string> sources;
    if (recipe.source) sources.insert(recipe.source->text());
    for (const SupportingScript& script : recipe.supporting) {
      if (script.source) sources.insert(script.source->text());
    }
    for (const std::string& source : sources) {
      const fs::path top = fs::path(recipe.origin).parent_path();
      std::error_code error;
      fs::recursive_directory_iterator at(top / source, error);
      for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
        if (at->path().filename() == "__pycache__") {
          at.disable_recursion_pending();
        } else if (const auto status = try_lstat(at->path()); status && S_ISREG(status->st_mode)) {
          const std::string path =
              fmt::format("{}/{}", kind_folder(recipe.kind), at->path().lexically_relative(top).generic_string());
          const auto text = try_read_text(at->path(), catalogue_bytes_max);
          if (text && taken_.insert(path).second) put(path, *text);
        }
      }
    }
  }

  void add(const Tombstone& stone) {
    const std::string path = fmt::format("removed/{}", stone.file.filename().native());
    if (!taken_.insert(path).second) return;
    put(path, text_of_tombstone(stone), index_.tombstones);
  }

  void put(const std::string& path, const std::string& text) { put(path, text, index_.files); }
  void put(const std::string& path, const std::string& text, std::vector<CatalogueFile>& list) {
    write(path, text);
    list.push_back({RelativePath::parse(path), text.size(), sha256(text)});
  }

  void write(const std::string& path, const std::string& text) {
    const fs::path file = directory_ / path;
    written_.insert(file);
    make_directories(file.parent_path());
    const auto before = try_read_text(file, catalogue_bytes_max);
    if (before != text) write_text_atomically(file, text, 0644, true);
  }

  // What an earlier export had, and this one has not.
  void sweep() const {
    std::error_code error;
    std::vector<std::string_view> rooms{"removed"};
    for (const KindName& kind : kind_names) rooms.push_back(kind.folder);
    for (const std::string_view room : rooms) {
      std::vector<fs::path> old;
      fs::recursive_directory_iterator at(directory_ / room, error);
      for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
        if (!at->is_directory(error) && !written_.contains(at->path())) old.push_back(at->path());
      }
      for (const fs::path& file : old) fs::remove(file, error);
    }
  }

  const SessionSettings& settings_;
  const fs::path directory_;
  const Catalogue catalogue_;
  bool pins_ = false;
  std::stop_token stop_;
  CatalogueIndexFile index_;
  ExportedCatalogueRecord record_;
  std::set<std::string> taken_;
  std::set<fs::path> written_;
};

}  // namespace

ExportedCatalogueRecord write_catalogue(const SessionSettings& settings, const ExportCatalogueRequest& request,
                                        const std::stop_token& stop) {
  return Export(settings, request.directory).run(request, stop);
}

}  // namespace sabath
