#include "index/index.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "sabath/error.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view mark = "sabath catalogue index 2 " SABATH_VERSION "\n";  // another one: read all again
constexpr std::string_view ending = ".index";
constexpr std::uint64_t file_size_max = 1ULL << 30U;
constexpr std::int64_t second_ns = 1'000'000'000, settled_ns = 2 * second_ns;
constexpr std::size_t indexes_max = 16;  // of one user: each for a set of directories

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * second_ns + time.tv_nsec; }

std::optional<RecipeStamp> try_stamp(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return RecipeStamp{static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
                     static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim),
                     nanoseconds(status.st_ctim)};
}

struct Named {  // of two recipes with these values, the first of the search counts; the name is in lower case
  AssetKind kind;
  std::string_view name, version;
  friend bool operator==(const Named&, const Named&) = default;
};
struct HashOfNamed {
  std::size_t operator()(const Named& named) const noexcept {
    const std::hash<std::string_view> hash;
    return hash(named.name) * 31 + hash(named.version) * 3 + static_cast<std::size_t>(named.kind);
  }
};

std::string hash_of(std::string_view text) {
  const std::uint64_t hash = xxh3_64(text);
  return {reinterpret_cast<const char*>(&hash), sizeof hash};
}

fs::path file_in(const fs::path& directory, const Catalogue& catalogue) {
  std::set<std::string> folders;
  for (const Catalogue::File& file : catalogue.files()) folders.insert(file.path.parent_path().native());
  std::string text;
  for (const std::string& folder : folders) text += folder + '\n';
  return directory / (sha256(text).hex().substr(0, 16) + std::string(ending));
}

// The oldest go: catalogues that are not asked any more.
void prune(const fs::path& directory) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == ending) found.emplace_back(entry.last_write_time(error), entry.path());
  }
  std::ranges::sort(found, std::greater<>{});
  for (std::size_t i = indexes_max; i < found.size(); ++i) fs::remove(found[i].second, error);
}

}  // namespace

CatalogueIndex::CatalogueIndex(const Catalogue& catalogue, const fs::path& directory) {
  const fs::path file = directory.empty() ? fs::path() : file_in(directory, catalogue);
  if (!file.empty()) load(file);
  collect(catalogue);
  if (!file.empty() && (changed_ || all_.size() != known_.size())) save(file);
}

void CatalogueIndex::load(const fs::path& file) {
  try {
    kept_ = try_read_text(file, file_size_max).value_or("");
  } catch (const Error&) {  // a cache that cannot be read is none
    kept_.clear();
  }
  std::string_view rest = kept_;
  known_.reserve(kept_.size() / 500);  // about: growth copies what is there
  if (!rest.starts_with(mark) || rest.size() < mark.size() + 8) return;
  const std::string_view hash = rest.substr(rest.size() - 8);
  rest = rest.substr(mark.size(), rest.size() - mark.size() - 8);
  if (hash_of(rest) != hash) return;
  while (!rest.empty()) {
    const auto entry = decode_entry(rest);
    if (!entry) return known_.clear();
    known_.push_back(*entry);
  }
}

void CatalogueIndex::collect(const Catalogue& catalogue) {
  std::unordered_map<std::string_view, const IndexEntry*> by_file;
  by_file.reserve(known_.size());
  for (const IndexEntry& entry : known_) by_file.emplace(entry.file, &entry);
  std::unordered_set<Named, HashOfNamed> shown;
  shown.reserve(catalogue.files().size());
  items_.reserve(catalogue.files().size());
  all_.reserve(catalogue.files().size());
  for (const Catalogue::File& file : catalogue.files()) {
    std::optional<IndexEntry> entry;
    const auto stamp = try_stamp(file.path);
    if (!stamp) continue;
    const auto found = by_file.find(file.path.native());
    if (found != by_file.end() && found->second->stamp == *stamp && !file.registered) {
      entry = *found->second;
      all_.push_back(*entry);
    } else {
      const double now = unix_seconds();
      const Catalogue::Listed listed = catalogue.listed(file);
      if (!listed.recipe) continue;
      const bool settled = static_cast<double>(std::max(stamp->ctime_ns, stamp->mtime_ns) + settled_ns) < now * 1e9 &&
                           try_stamp(file.path) == stamp;
      made_.push_back(encode_entry(*listed.recipe, file.path.native(), settled ? *stamp : RecipeStamp{}));
      std::string_view bytes = made_.back();
      entry = decode_entry(bytes);
      ++read_;
      if (settled && !file.registered) {
        all_.push_back(*entry);
        changed_ = true;
      }
    }
    const bool ours = file.catalogue.empty();
    const Named named{entry->kind, entry->lower.substr(0, entry->name.size()), entry->version};
    if (shown.insert(named).second || !ours) items_.push_back({*entry, &file});  // of others' the name has a prefix
  }
}

void CatalogueIndex::save(const fs::path& file) const {
  std::string text;
  for (const IndexEntry& entry : all_) append_entry(text, entry);
  if (text.size() + mark.size() + 8 > file_size_max) return;
  try {
    make_directories(file.parent_path());
    write_text_atomically(file, std::string(mark) + text + hash_of(text), 0600);
    prune(file.parent_path());
  } catch (const Error&) {  // no room, or not ours: the next search reads the recipes again
  }
}

}  // namespace sabath
