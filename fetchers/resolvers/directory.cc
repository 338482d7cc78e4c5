#include "resolvers/directory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/glob.h"
#include "base/percent.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t depth_max = 32;
constexpr std::size_t directories_max = 100'000;

[[noreturn]] void refuse_directory(const Url& at, const std::string& why, std::string hint = {}) {
  throw Error(FailureKind::invalid, fmt::format("the listing of {} is refused: {}", at.display(), why),
              std::move(hint));
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
    for (const DirectoryEntry& entry : page.entries) {
      const auto name = entry.name.find('/') == entry.name.npos ? RelativePath::try_parse(entry.name) : std::nullopt;
      if (!name) refuse_directory(directory, fmt::format("no file may be called \"{}\"", printable(entry.name)));
      const std::string below = path.empty() ? entry.name : path + "/" + entry.name;
      if (entry.is_directory) {
        if (at_.pattern.empty() || glob_may_match_below(at_.pattern, below))
          enter(child_of(page.url, entry.name + "/"), below, depth + 1);
      } else if (at_.pattern.empty() || glob_matches(at_.pattern, below)) {
        add(child_of(page.url, entry.name), below, entry.size_bytes);
      }
    }
  }

  void add(Url url, const std::string& path, std::optional<std::uint64_t> size_bytes) {
    if (files_.size() >= listed_files_max)
      refuse_directory(at_.top, fmt::format("more than {} files", listed_files_max));
    files_.push_back({RelativePath::parse(path), {std::move(url)}, size_bytes, {}});
  }

  const DirectoryPattern& at_;
  const std::function<DirectoryPage(const Url&)>& list_;
  std::vector<ListedFile> files_;
  std::size_t directories_ = 0;
};

}  // namespace

bool names_directory(const Url& url) { return url.path().ends_with('/') || is_glob(url.path()); }

DirectoryPattern parse_directory_pattern(const Url& url) {
  const std::string& path = url.path();
  const std::size_t glob = std::min(path.find_first_of("*["), path.size());
  const std::size_t end = glob == path.size() ? path.size() : path.rfind('/', glob) + 1;
  DirectoryPattern parsed{.top = Url::parse(url.origin() + path.substr(0, end)),
                          .pattern = percent_decode(path.substr(end))};
  if (parsed.pattern.empty() && !path.ends_with('/')) refuse_directory(url, "it names no directory");
  if (parsed.pattern.ends_with('/')) parsed.pattern += "**";
  return parsed;
}

std::vector<ListedFile> walk(const DirectoryPattern& at, const std::function<DirectoryPage(const Url&)>& list) {
  return Walk(at, list).run();
}

Url child_of(const Url& directory, std::string_view path) {
  return Url::parse(directory.origin() + directory.path() + percent_encode_path(path));
}

}  // namespace sabath
