#include "store/registered.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/file.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "store/disk/listing.h"
#include "store/disk/small_file.h"
#include "store/state.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

fs::path file_of(const Layout& layout, const std::string& name, std::string_view folder) {
  return layout.recipes() / folder / (name + ".json");
}

std::size_t names_in(const Layout& layout) {
  std::size_t names = 0;
  for (const auto& [kind, word, folder] : kind_names) names += list_directory(layout.recipes() / folder).size();
  return names;
}

}  // namespace

std::vector<fs::path> registered_rooms(const fs::path& store, const Owners& owners) {
  const Layout own(store, ::geteuid());
  std::vector<fs::path> rooms, all = rooms_of_all(own, own.recipes());
  all.insert(all.begin() + 1, Layout(store).recipes());  // of a store of one user
  for (const auto& room : all) {
    const auto there = try_lstat(room);
    if (there && S_ISDIR(there->st_mode) && owners.trusts(*there)) rooms.push_back(room);
  }
  return rooms;
}

fs::path register_recipe(Store& store, const std::string& name, const std::string& text, AssetKind kind) {
  Store::State& state = store.state();
  const fs::path file = file_of(state.layout, name, kind_folder(kind));
  const fs::path room = file.parent_path();
  if (!try_lstat(file) && names_in(state.layout) >= registered_names_max) {
    throw Error(FailureKind::usage,
                fmt::format("{} has {} registered names", state.layout.recipes().native(), registered_names_max),
                fmt::format("`{} {} NAME` frees one", verb_text("rm"), option_text("forget")));
  }
  // Of this user alone where several write: another member could replace a name.
  if (state.layout.of_several_users()) static_cast<void>(::mkdir(room.c_str(), 0755));
  replace_file(state.temporaries, file, text, true);
  return file;
}

bool forget_recipe(Store& store, const std::string& name) {
  bool any = false;
  for (const auto& [kind, word, folder] : kind_names) {
    const fs::path file = file_of(store.state().layout, name, folder);
    if (::unlink(file.c_str()) == 0) {
      sync_directory(file.parent_path());
      any = true;
    } else if (errno != ENOENT && errno != ENOTDIR) {
      throw_errno("remove", file, errno);
    }
  }
  return any;
}

fs::path held_room(const fs::path& room) { return room / "held"; }

void note_held(Store& store, const std::string& name, const std::string& text, AssetKind kind) noexcept {
  try {
    Store::State& state = store.state();
    const fs::path room = held_room(state.layout.recipes()), folder = room / kind_folder(kind);
    const fs::path file = folder / (name + ".json");
    if (try_read_small(file) == text) return;  // a store that is all right is not written to
    if (state.layout.of_several_users()) {     // of this user alone, as what is registered
      for (const fs::path& each : {room, folder}) static_cast<void>(::mkdir(each.c_str(), 0755));
    }
    if (!try_lstat(file) && list_directory(folder).size() >= registered_names_max) return;
    replace_file(state.temporaries, file, text, false);
  } catch (const std::exception&) {  // a store that cannot be written, or a full disk: the asset is there all the same
  }
}

std::vector<fs::path> lost_held(const Store::State& store) {
  std::vector<fs::path> lost;
  for (const auto& [kind, word, folder] : kind_names) {
    for (const fs::path& file : list_directory(held_room(store.layout.recipes()) / folder)) {
      const auto note = nlohmann::json::parse(try_read_small(file).value_or(""), nullptr, false);
      const auto pin = nlohmann::json::json_pointer("/manifest/digest");
      const bool named = note.is_object() && note.contains(pin) && note[pin].is_string();
      const auto root = named ? Sha256::try_parse(note[pin].get<std::string>()) : std::nullopt;
      if (!root || !try_lstat(store.layout.manifest(*root))) lost.push_back(file);
    }
  }
  return lost;
}

}  // namespace sabath
