// A packed environment that a user names: of the store, or a directory. One thread. Throws Error{not_found},
// Error{offline}, Error{invalid}, Error{storage}.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "manifest/manifest.h"
#include "packed/environment_note.h"
#include "sabath/event.h"
#include "sabath/session_settings.h"
#include "store/store.h"

namespace sabath {

struct EnvironmentTree {
  std::string name;  // as it was named
  std::optional<Manifest> manifest;
  EnvironmentNote note;
  std::filesystem::path place;  // the view, or the directory; empty: there is none
  bool in_store = false;
  std::shared_ptr<Store> store;  // that has the bytes; nullptr: `place` has them

  // Of a small file of the tree; nullopt: its bytes are not here.
  [[nodiscard]] std::optional<std::string> text(const Entry& entry, std::uint64_t size_max) const;
};

// `hashes`: of a directory, too, there is a manifest then: all of it is read.
[[nodiscard]] EnvironmentTree environment_tree(const SessionSettings& settings, const std::string& named, bool hashes,
                                               EventSink& events, const std::stop_token& stop);

}  // namespace sabath
