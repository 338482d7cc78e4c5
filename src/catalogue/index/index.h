// The index of a catalogue: what its recipes say, kept in a file so that they need not be read again. It is a cache: an
// absent, damaged or foreign file is as good as none, a recipe that changed is read again, and an index that cannot be
// written is only slower. What it gives is what the recipe files say now.
//
// A recipe counts as unchanged if device, inode, size, mtime and ctime are those that were noted. Files that changed
// less than two seconds before they were read are not noted, since they may change again without a trace.
// One thread. Throws what listing and reading recipes throws.
#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "index/entry.h"
#include "recipe/catalogue.h"

namespace sabath {

class CatalogueIndex {
 public:
  // `directory`: the user's, for indexes; empty: none is kept. An index is named by the places of its recipes.
  CatalogueIndex(const Catalogue& catalogue, const std::filesystem::path& directory);
  CatalogueIndex(const CatalogueIndex&) = delete;
  CatalogueIndex& operator=(const CatalogueIndex&) = delete;

  struct Item {
    IndexEntry entry;
    const Catalogue::File* file;  // of the catalogue
  };
  // In the order of the search; shadowed and unreadable recipes are left out.
  [[nodiscard]] const std::vector<Item>& items() const { return items_; }
  [[nodiscard]] std::size_t recipes_read() const { return read_; }  // that were not in the index, or changed

 private:
  void load(const std::filesystem::path& file);
  void collect(const Catalogue& catalogue);
  void save(const std::filesystem::path& file) const;

  std::string kept_;               // the file as it was
  std::deque<std::string> made_;   // entries that were read now
  std::vector<IndexEntry> known_;  // of kept_, by file
  std::vector<IndexEntry> all_;    // as they are to be kept
  std::vector<Item> items_;
  std::size_t read_ = 0;
  bool changed_ = false;
};

}  // namespace sabath
