#include "store/store_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/packs/pack_format.h"

namespace sabath {
namespace {

constexpr std::string_view format_name = "sabath-store";
constexpr std::uint64_t format_version = 1;
constexpr std::uint64_t pack_threshold_default = 1 << 20;

}  // namespace

std::optional<StoreFormat> try_read_format(const Layout& layout) {
  const auto text = try_read_text(layout.format_file(), format_size_max);
  if (!text) return std::nullopt;
  const std::string file = printable(layout.format_file().native());
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const bool ours = json.is_object() && json.value("format", nlohmann::json()) == format_name &&
                    json.value("version", nlohmann::json()).is_number_unsigned();
  if (!ours) {
    throw Error(FailureKind::invalid, fmt::format("{} does not describe a store", file),
                "give another directory, or put the store's format file back");
  }
  const auto version = json["version"].get<std::uint64_t>();
  if (version != format_version) {
    throw Error(FailureKind::invalid,
                fmt::format("{} has the store format {}, and this program knows {}", file, version, format_version),
                version > format_version
                    ? "use a newer SABATH, or another store"
                    : "no SABATH wrote that: put the store's format file back, or use another store");
  }
  const auto threshold = json.value("pack_threshold_bytes", nlohmann::json());
  return StoreFormat{threshold.is_number_unsigned() ? std::min(threshold.get<std::uint64_t>(), pack_member_max) : 0};
}

bool may_become_store(const std::filesystem::path& directory) {
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().native();
    const auto rooms = rooms_of_store();
    const bool room = std::ranges::find(rooms, name, &Room::name) != rooms.end();
    if (!name.starts_with("format.") && !room) return false;
  }
  if (error) throw_errno("list", directory, error.value());
  return true;
}

// Below it stands content of files that others may not read where they came from.
void make_private(const std::filesystem::path& top) {
  if (top.has_parent_path() && top.parent_path() != top) make_directories(top.parent_path());
  if (::mkdir(top.c_str(), 0700) != 0) make_directories(top);  // it is there, or this says why not
}

void make_store(const Layout& layout) {
  make_private(layout.root());
  if (may_become_store(layout.root())) return write_format(layout, false);
  if (try_lstat(layout.format_file())) return;  // another process has just made it
  const bool git = try_lstat(layout.root() / ".git").has_value();
  throw Error(FailureKind::invalid,
              fmt::format("{} is not a store, and it is not empty{}", printable(layout.root().native()),
                          git ? ": it is a git work tree" : ""),
              "give the directory of a store, or one that is empty or does not exist yet");
}

void write_format(const Layout& layout, bool shared) {
  nlohmann::ordered_json format{
      {"format", format_name}, {"version", format_version}, {"pack_threshold_bytes", pack_threshold_default}};
  if (shared) format["shared"] = true;
  write_text_atomically(layout.format_file(), format.dump() + "\n", 0644, shared);
}

}  // namespace sabath
