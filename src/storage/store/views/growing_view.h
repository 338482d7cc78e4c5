// The tree of a view that does not stand yet, while the files of its asset arrive: each is written where the view will
// show it, and becomes an object by a hard link. So a small file costs five calls to the filesystem instead of ten. If
// views are not hard links (clones), it makes objects like any other writer. docs/store.md, "Views".
//
// write_object() by any thread; then show() or abandon(), once. Published objects stay, even if the tree goes. Throws
// Error{space}, Error{storage}.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/file.h"
#include "store/disk/durable.h"
#include "store/objects/object_writer.h"
#include "store/store.h"
#include "store/views/grown_files.h"

namespace sabath {

class GrowingView {
 public:
  explicit GrowingView(Store& store) : store_(store) {}
  ~GrowingView();  // not shown: removes the tree, and its objects are hashed once more when next looked for
  GrowingView(const GrowingView&) = delete;
  GrowingView& operator=(const GrowingView&) = delete;

  // For the content that the manifest has at `path`; once for each path, and before the first show().
  [[nodiscard]] std::unique_ptr<ObjectWriter> write_object(const std::string& path);
  // Store::make_view(), of which a part is done already.
  std::filesystem::path show(const Manifest& manifest);
  void abandon(const Manifest& manifest) noexcept;  // removes the tree; nothing has to be hashed again

 private:
  friend class ViewPlace;
  void begin();

  Store& store_;
  std::once_flag begun_;
  std::filesystem::path tree_;
  Fd root_;  // of the tree; empty: there is none
  GrownFiles grown_;
};

// The place of one file in a growing view.
class ViewPlace final : public ObjectPlace {
 public:
  ViewPlace(GrowingView& view, std::string path) : view_(view), path_(std::move(path)) {}
  [[nodiscard]] std::filesystem::path name() const override { return view_.tree_ / path_; }
  [[nodiscard]] Fd create() const override;
  [[nodiscard]] Move link_as(const std::filesystem::path& object, const Digest& digest) const override;
  [[nodiscard]] std::optional<struct stat> now() const override;

 private:
  GrowingView& view_;
  const std::string path_;
};

}  // namespace sabath
