#include "software/module_tree.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "software/claims.h"
#include "software/module_text.h"
#include "software/module_words.h"
#include "software/version.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using Chain = std::vector<std::string>;

constexpr unsigned folders_max = 4;  // of a modulefile's name
constexpr std::size_t passed_over_max = 1000;

struct ReadModule {
  Software software;  // without its chain
  std::vector<std::string> directories;
};

bool is_never_run(std::string_view folder) { return folder == ".git" || folder == ".svn" || folder == "CVS"; }

// The beginning of a file; a pipe or a device is none.
std::optional<std::string> text_of_module(const fs::path& file) {
  const auto fd = try_open_file(file, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat status {};
  if (!fd || ::fstat(fd->get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::string text(std::min<std::uint64_t>(static_cast<std::uint64_t>(status.st_size), module_text_max), '\0');
  text.resize(read_at(fd->get(), std::as_writable_bytes(std::span(text)), 0, file));
  return text;
}

class TreeReader {
 public:
  TreeReader(const TrustedOwners& owners, const std::stop_token& stop, const ModuleTreeBounds& bounds)
      : owners_(owners), stop_(stop), bounds_(bounds) {}

  ModuleTree read(const std::vector<std::string>& module_path) {
    for (const std::string& directory : module_path) enter(directory, {});
    while (!open_.empty()) {
      const auto [directory, chain] = std::move(open_.front());
      open_.pop_front();
      for (const ReadModule& one : modules_in(directory)) {
        if (tree_.software.size() >= bounds_.files) {
          tree_.whole = false;
          return std::move(tree_);
        }
        Software row = one.software;
        row.chain = chain;
        Chain below = chain;
        below.push_back(row.module);
        for (const std::string& next : one.directories) enter(next, below);
        tree_.software.push_back(std::move(row));
      }
    }
    return std::move(tree_);
  }

 private:
  void enter(std::string directory, const Chain& chain) {
    while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
    if (!directory.starts_with('/')) return;
    if (chain.size() > bounds_.depth) {
      tree_.whole = false;
      return;
    }
    auto& chains = chains_[directory];
    // A module that adds the directory that it is in says nothing new, and would go on for ever.
    const auto contains = [&](const Chain& before) {
      return std::ranges::equal(before, std::span(chain).first(std::min(before.size(), chain.size())));
    };
    if (std::ranges::any_of(chains, contains)) return;
    if (chains.size() >= bounds_.chains || directories_ >= bounds_.directories) {
      tree_.whole = false;
      return;
    }
    if (chains.empty()) {
      ++directories_;
      if (!may_be_read(directory)) return;
      tree_.directories.push_back(directory);
    }
    chains.push_back(chain);
    open_.emplace_back(directory, chain);
  }

  bool may_be_read(const std::string& directory) {
    std::error_code unknown;
    if (!fs::is_directory(directory, unknown)) {
      chains_[directory].push_back({});
      fs::path above = directory;  // who can write there can make it
      while (!fs::exists(above, unknown) && above.has_relative_path()) above = above.parent_path();
      if (const auto why = owners_.why_not(above)) doubt(directory, "it is not there, and above it: " + *why);
      return false;
    }
    const auto why = owners_.why_not(directory);
    if (!why) return true;
    chains_[directory].push_back({});
    pass_over(directory, *why);
    return false;
  }

  void doubt(const fs::path& what, const std::string& why) {
    if (tree_.unsure.empty()) tree_.unsure = fmt::format("{}: {}", printable(what.native(), 1000), why);
  }

  void pass_over(const std::string& what, const std::string& why) {
    if (tree_.passed_over.size() < passed_over_max) tree_.passed_over.push_back({printable(what, 4096), why});
  }

  const std::vector<ReadModule>& modules_in(const std::string& directory) {
    const auto [at, made] = modules_.try_emplace(directory);
    if (made) look_into(directory, "", 0, at->second);
    return at->second;
  }

  // Everything below it was judged with it, unless another user owns it.
  void look_into(const fs::path& top, const std::string& name, unsigned folders, std::vector<ReadModule>& into) {
    std::vector<fs::directory_entry> entries;
    std::error_code unknown;
    for (const auto& entry : fs::directory_iterator(name.empty() ? top : top / name, unknown)) {
      if (++seen_ > 2 * bounds_.files) {
        tree_.whole = false;
        break;
      }
      if (!is_never_run(entry.path().filename().native())) entries.push_back(entry);
    }
    if (unknown) doubt(top / name, "it cannot be read");
    std::ranges::sort(entries);
    for (const auto& entry : entries) {
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "stopped while modulefiles were read");
      const std::string own = entry.path().filename().string();
      const std::string inner = (name.empty() ? "" : name + "/") + own;
      const bool is_listed = !own.starts_with('.') && !own.ends_with('~') && is_plain_value(own);
      if (entry.is_directory(unknown)) {
        look_into_folder(top, inner, folders + 1, is_listed, into);
      } else if (entry.is_regular_file(unknown)) {
        std::vector<ReadModule> unlisted;  // a module system runs some of them all the same
        add_file(entry.path(), inner, is_listed ? into : unlisted);
        for (const ReadModule& one : unlisted)
          if (!one.directories.empty()) doubt(entry.path(), "it is not listed, and adds directories");
      } else if (const auto why = owners_.why_not_itself(entry.path())) {
        doubt(entry.path(), *why);
      }
    }
  }

  void look_into_folder(const fs::path& top, const std::string& name, unsigned folders, bool is_listed,
                        std::vector<ReadModule>& into) {
    if (const auto why = owners_.why_not(top / name)) doubt(top / name, *why);
    if (folders >= folders_max) return doubt(top / name, "it is too deep");
    std::vector<ReadModule> unlisted;
    look_into(top, name, folders, is_listed ? into : unlisted);
    if (!unlisted.empty()) doubt(top / name, "it is not listed, and has modules");
  }

  void note_doubts(const fs::path& file, const ModuleText& said) {
    if (!said.unsure.empty()) doubt(file, said.unsure);
    if (said.unread != 0) doubt(file, "only a run would tell what it adds to MODULEPATH");
    for (const std::string& other : said.files) {
      const auto why =
          other.starts_with('/') ? owners_.why_not(other) : std::optional<std::string>("its path is not known");
      if (why) doubt(file, fmt::format("it names {}: {}", printable(other, 1000), *why));
    }
  }

  void add_file(const fs::path& file, const std::string& name, std::vector<ReadModule>& into) {
    const bool is_lua = name.ends_with(".lua");
    const auto own = own_status(file);
    if (!own.empty()) return pass_over(file.string(), own);
    try {
      const auto text = text_of_module(file);
      if (!text || (!is_lua && !is_tcl_module(*text))) return;
      ReadModule one;
      one.software = software_of_module(is_lua ? name.substr(0, name.size() - 4) : name, {});
      ModuleText said = is_lua ? read_lua_module(*text, one.software.module) : read_tcl_module(*text);
      one.software.opens_first = said.opens_first && !said.needs.empty();
      one.software.needs = std::move(said.needs);
      one.software.conflicts = std::move(said.conflicts);
      one.software.features = std::move(said.features);
      one.software.provides = std::move(said.provides);
      one.software.family = std::move(said.family);
      one.software.known = "its modulefile";
      add_features(one.software);
      one.directories = std::move(said.directories);
      tree_.unread += said.unread;
      note_doubts(file, said);
      into.push_back(std::move(one));
    } catch (const Error& error) {
      pass_over(file.string(), error.failure().message);
    }
  }

  // Of each file its own owner and mode; the directories above it are judged once for each.
  std::string own_status(const fs::path& file) {
    const auto [at, made] = folders_.try_emplace(file.parent_path().string());
    if (made) at->second = owners_.why_not(file.parent_path()).value_or("");
    if (!at->second.empty()) return at->second;
    return owners_.why_not_itself(file).value_or("");
  }

  const TrustedOwners& owners_;
  std::stop_token stop_;
  ModuleTreeBounds bounds_;
  ModuleTree tree_;
  std::deque<std::pair<std::string, Chain>> open_;
  std::map<std::string, std::vector<Chain>> chains_;
  std::map<std::string, std::vector<ReadModule>> modules_;
  std::map<std::string, std::string> folders_;  // why files of it are not read; empty: they are
  std::size_t directories_ = 0, seen_ = 0;
};

}  // namespace

void add_features(Software& one) {
  const auto add = [&](std::string_view text) { add_module_value(one.features, to_lower(text)); };
  std::string_view rest = parts_of_version(one.version).suffix;
  while (!rest.empty()) {
    const auto end = std::min(rest.find_first_of("-+_"), rest.size());
    if (const auto word = rest.substr(0, end); !word.empty() && !is_digit(word.front())) add(word);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const std::string& need : one.needs) {
    const std::string name = parts_of_module(need).first;
    add(std::string_view(name).substr(name.rfind('/') + 1));
  }
}

Software software_of_module(const std::string& module, std::vector<std::string> chain) {
  Software one;
  one.module = module;
  one.chain = std::move(chain);
  std::tie(one.name, one.version) = parts_of_module(module);
  return one;
}

ModuleTree read_module_tree(const std::vector<std::string>& module_path, const TrustedOwners& owners,
                            const std::stop_token& stop, const ModuleTreeBounds& bounds) {
  return TreeReader(owners, stop, bounds).read(module_path);
}

}  // namespace sabath
