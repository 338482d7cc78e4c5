#include "resolvers/directory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/glob.h"
#include "base/percent.h"
#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t depth_max = 32;
constexpr std::size_t directories_max = 100'000;
constexpr unsigned asked_in_vain_max = 32;  // of one page's links

[[noreturn]] void refuse_directory(const Url& at, const std::string& why, std::string hint = {}) {
  throw Error(FailureKind::invalid, fmt::format("the listing of {} is refused: {}", at.display(), why),
              std::move(hint));
}

[[noreturn]] void refuse_name(const Url& directory, std::string_view name) {
  refuse_directory(directory, fmt::format("no file may be called \"{}\"", printable(name)),
                   "a pattern that leaves it out has the others");
}

// "train" and "v1.0" may be directories, "a.h5" is taken for a file.
bool may_be_directory(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == name.npos || dot == 0 || std::ranges::all_of(name.substr(dot + 1), is_digit);
}

// Also where its name is none for an asset: what stands in it, and is asked for, is refused by its own.
bool may_be_entered(std::string_view name) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos &&
         std::ranges::none_of(name, is_control);
}

class Walk {
 public:
  Walk(const DirectoryPattern& at, const std::function<DirectoryPage(const Url&)>& list) : at_(at), list_(list) {}

  std::vector<ListedFile> run() {
    enter(at_.top, "", 0);
    std::ranges::sort(files_, {}, [](const ListedFile& file) { return file.path.text(); });
    return std::move(files_);
  }

 private:
  void enter(const Url& directory, const std::string& path, std::size_t depth) {
    if (depth > depth_max) {
      refuse_directory(at_.top, fmt::format("it is deeper than {} directories, at {}", depth_max, printable(path)),
                       "a directory that is linked into itself has no end: name what is wanted by a pattern");
    }
    if (++directories_ > directories_max)
      refuse_directory(at_.top, fmt::format("more than {} directories", directories_max));
    const DirectoryPage page = list_(directory);
    unsigned files_in_row = 0;  // that might have been directories
    for (const DirectoryEntry& entry : page.entries) {
      const std::string below = path.empty() ? entry.name : path + "/" + entry.name;
      const bool enters = at_.pattern.empty() || glob_may_match_below(at_.pattern, below);
      const bool takes = at_.pattern.empty() || glob_matches(at_.pattern, below);
      if (!enters && !takes) continue;  // an unwanted name is not refused, even a bad one
      bool is_directory = entry.is_directory;
      if (!is_directory && page.is_directory && files_in_row < asked_in_vain_max && may_be_directory(entry.name)) {
        is_directory = page.is_directory(child_of(page.url, entry.name));
        files_in_row = is_directory ? 0 : files_in_row + 1;
      }
      if (is_directory && enters) {
        if (!may_be_entered(entry.name)) refuse_name(directory, entry.name);
        enter(child_of(page.url, entry.name + "/"), below, depth + 1);
      } else if (!is_directory && takes) {
        add(page.url, entry, below);
      }
    }
  }

  void add(const Url& directory, const DirectoryEntry& entry, const std::string& below) {
    auto path = entry.name.find('/') == entry.name.npos ? RelativePath::try_parse(below) : std::nullopt;
    if (!path) refuse_name(directory, below);
    if (files_.size() >= listed_files_max)
      refuse_directory(at_.top, fmt::format("more than {} files", listed_files_max));
    files_.push_back({std::move(*path),
                      {child_of(directory, entry.stands_for.empty() ? entry.name : entry.stands_for)},
                      entry.size_bytes,
                      {}});
  }

  const DirectoryPattern& at_;
  const std::function<DirectoryPage(const Url&)>& list_;
  std::vector<ListedFile> files_;
  std::size_t directories_ = 0;
};

}  // namespace

bool names_directory(const Url& url) { return url.path().ends_with('/') || is_glob(url.path()); }

std::string name_in(JsonObject& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  const auto* text = value == nullptr ? nullptr : value->get<std::string>();
  return text == nullptr ? object.text(key) : *text;  // the latter throws
}

DirectoryPattern parse_directory_pattern(const Url& url) {
  const std::string& path = url.path();
  const std::size_t glob = std::min(path.find_first_of("*["), path.size());
  const std::size_t end = glob == path.size() ? path.size() : path.rfind('/', glob) + 1;
  DirectoryPattern parsed{.top = Url::parse(url.origin() + path.substr(0, end)).named_by(url.namer()),
                          .pattern = percent_decode(path.substr(end))};
  if (parsed.pattern.empty() && !path.ends_with('/')) refuse_directory(url, "it names no directory");
  if (parsed.pattern.ends_with('/')) parsed.pattern += "**";
  return parsed;
}

std::vector<ListedFile> walk(const DirectoryPattern& at, const std::function<DirectoryPage(const Url&)>& list) {
  return Walk(at, list).run();
}

Url child_of(const Url& directory, std::string_view path) {
  return Url::parse(directory.origin() + directory.path() + percent_encode_path(path)).named_by(directory.namer());
}

}  // namespace sabath
