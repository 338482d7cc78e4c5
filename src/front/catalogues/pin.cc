#include "catalogues/pin.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "base/wording.h"
#include "catalogues/stamp.h"
#include "holdings/holding.h"
#include "recipe/edit.h"
#include "sabath/asset_file.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t read_bytes = 4 << 20;
constexpr std::string_view commit_prefix = "git commit ";

std::string sha256_of(const AssetFile& file, const std::stop_token& stop) {
  StreamSha256 hash;
  std::vector<std::byte> room(read_bytes);
  std::uint64_t at = 0;
  while (const std::size_t got = file.read(at, room)) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped", "nothing is written");
    hash.update(std::span(room).first(got));
    at += got;
  }
  return hash.finish().hex();
}

class Pinning {
 public:
  Pinning(const SessionSettings& settings, const Recipe& recipe, std::string text)
      : settings_(settings), recipe_(recipe), text_(std::move(text)) {
    if (recipe.schema != 1) {
      throw Error(FailureKind::invalid, fmt::format("{} is of the original's schema", printable(recipe.origin, 1000)),
                  "recipes of schema 1 can be pinned");
    }
  }

  PinnedText run(const std::vector<std::string>& urls, const std::stop_token& stop) {
    const auto store = try_open_store(settings_);
    const Holding holding = holding_of(recipe_, store.get());
    if (!holding.root || !holding.has_manifest) {
      throw Error(FailureKind::offline, fmt::format("the store does not hold {}", printable(recipe_.name)),
                  fmt::format("`{} {}` brings it", verb_text("fetch"), shell_word(recipe_.name)));
    }
    pin_files(*holding.root, stop);
    if (recipe_.git && holding.trusted_by.starts_with(commit_prefix))
      pin_commit(holding.trusted_by.substr(commit_prefix.size()));
    if (!recipe_.manifest) {
      set({"manifest", "digest"}, holding.root->prefixed());
      set({"manifest", "date"}, time_text().substr(0, 10));
    }
    if (!urls.empty()) set({"manifest", "urls"}, urls);
    pinned_.root = *holding.root;
    pinned_.text = std::move(text_);
    return std::move(pinned_);
  }

 private:
  void set(std::vector<std::string> key, const Json& value) {
    text_ = edited_recipe(std::move(text_), recipe_.origin, {std::move(key), value.dump()});
  }
  void take_away(std::vector<std::string> key) {
    text_ = edited_recipe(std::move(text_), recipe_.origin, {std::move(key), ""});
  }

  void pin_files(const Sha256& root, const std::stop_token& stop) {
    Session session(settings_);
    const OpenAsset asset(session, root.prefixed());
    for (const Fragment& fragment : recipe_.fragments) {
      if (fragment.type == FragmentType::file && fragment.path) {
        pin_file(fragment, AssetFile(asset, fragment.path->text()), stop);
      } else {
        pinned_.root_only.push_back(fragment.id);
      }
    }
  }

  void pin_file(const Fragment& fragment, const AssetFile& file, const std::stop_token& stop) {
    if (!fragment.size_bytes) set({"fragments", fragment.id, "size"}, file.size_bytes());
    if (fragment.size_bytes.value_or(file.size_bytes()) != file.size_bytes()) refuse(fragment, "size");
    const std::string sum = sha256_of(file, stop);
    if (fragment.checksum.sha256.empty()) set({"fragments", fragment.id, "checksum", "sha256"}, sum);
    if (!fragment.checksum.sha256.empty() && fragment.checksum.sha256 != sum) refuse(fragment, "SHA-256");
    ++pinned_.files;
  }

  [[noreturn]] void refuse(const Fragment& fragment, const char* what) const {
    throw Error(FailureKind::content,
                fmt::format("the recipe's {} of {} is not that of the content that it pins", what, fragment.id),
                "take away what is wrong of the two: \"manifest\", or that of the fragment");
  }

  void pin_commit(const std::string& commit) {
    take_away({"git", "branch"});
    take_away({"git", "tag"});
    set({"git", "commit"}, commit);
  }

  const SessionSettings& settings_;
  const Recipe& recipe_;
  std::string text_;
  PinnedText pinned_;
};

}  // namespace

bool has_content(const Recipe& recipe) { return !recipe.fragments.empty() || recipe.git; }

PinnedText pinned_text(const SessionSettings& settings, const Recipe& recipe, std::string text,
                       const std::vector<std::string>& urls, const std::stop_token& stop) {
  return Pinning(settings, recipe, std::move(text)).run(urls, stop);
}

}  // namespace sabath
