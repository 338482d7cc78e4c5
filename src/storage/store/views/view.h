// views/<root>/: an asset as training code wants to see it. Entries are clones, hard links or copies of objects, copies
// of packs' members, or symlinks to adopted files. docs/store.md, "Views". One thread. Throws Error{space},
// Error{storage}, Error{content}.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "manifest/manifest.h"
#include "store/disk/open_directories.h"
#include "store/state.h"
#include "store/views/grown_files.h"
#include "store/views/trusted_views.h"

namespace sabath {

// Checks and makes the entries of one tree.
class ViewEntries {
 public:
  ViewEntries(Store::State& store, const Manifest& manifest, const std::filesystem::path& top)
      : store_(store), at_(top), root_(manifest.root()) {}
  // For a tree outside the store: perhaps on another filesystem, and from a store that cannot be written to.
  ViewEntries(Store::State& store, const Manifest& manifest, const std::filesystem::path& top, TreeFiles files)
      : store_(store), at_(top), root_(manifest.root()), outside_(true), files_(files) {}

  [[nodiscard]] bool right(const Entry& entry);
  void make(const Entry& entry);  // where nothing stands
  void mend(const Entry& entry);  // replaces what stands there; in place after finish()
  // Removing a hard link changes its object's ctime: this keeps the object's evidence true.
  bool remove_file(const Entry& entry);  // false: there was none
  bool complete(const Entry& entry);     // made before, or made now; true: a file stood there
  void finish();                         // makes the copies durable

 private:
  struct Place {
    int directory;
    std::string name;
  };
  [[nodiscard]] Place place(const Entry& entry);  // throws if there is no directory for it
  void make_at(const Place& place, const Entry& entry);
  void make_file(const Place& place, const Entry& entry);
  void make_file_once(const Place& place, const Entry& entry);
  [[nodiscard]] bool clones(const std::filesystem::path& object);
  // Where a symlink in the place of a copy leads: to a name that no other user replaces. nullopt: there is none.
  [[nodiscard]] std::optional<std::filesystem::path> target_of(const Entry& entry);
  void link_to(const Place& place, const Entry& entry, const std::filesystem::path& target);
  [[nodiscard]] bool try_link(const Place& place, const Entry& entry, const std::filesystem::path& object,
                              const struct stat& before);
  void copy(const Place& place, const Entry& entry, const std::filesystem::path& object, bool trusted);
  void copy_packed(const Place& place, const Entry& entry);
  [[nodiscard]] Fd create(const Place& place, const Entry& entry);
  void settle(Fd file, const Entry& entry);  // it is written
  [[nodiscard]] std::filesystem::path new_temporary();
  void put_in_place();  // the mended entries
  [[nodiscard]] std::filesystem::path path_of(const Entry& entry) const { return at_.root() / entry.path.text(); }

  struct Mended {
    RelativePath path;
    Digest digest;
    std::filesystem::path temporary;
  };

  Store::State& store_;
  OpenDirectories at_;
  const Sha256 root_;
  std::optional<TrustedViews> others_;
  const bool outside_ = false;
  const TreeFiles files_ = TreeFiles::shared;
  std::optional<bool> clones_;  // outside: tried with the first object
  std::vector<Mended> mended_;
  std::shared_ptr<SyncGroup> group_;  // of the copies; nullptr: there are none
};

// Makes the rest of a tree in which the `grown` files stand already, and makes it the view. False: it cannot be, or
// there is a view. Then the caller removes it by unmake().
[[nodiscard]] bool try_show_grown(Store::State& store, const Manifest& manifest, const std::filesystem::path& tree,
                                  GrownFiles& grown);
// Removes the tree, and keeps the evidence of the objects that were linked into it.
void unmake(Store::State& store, const Manifest& manifest, const std::filesystem::path& tree) noexcept;

}  // namespace sabath
