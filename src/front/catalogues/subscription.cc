#include "catalogues/subscription.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_reader.h"
#include "base/percent.h"
#include "base/reach.h"
#include "base/text.h"
#include "base/wording.h"
#include "catalogues/stamp.h"
#include "catalogues/tombstone.h"
#include "recipe/catalogue.h"
#include "recipe/index_file.h"
#include "recipe/naming.h"
#include "recipe/parse.h"
#include "recipe/subscribed.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/session.h"
#include "sabath/session_settings.h"
#include "sabath/url.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view git_prefix = "git+";
constexpr std::size_t lines_max = 100;

std::string plain_git_url(const std::string& url) {
  return url.starts_with(git_prefix) ? url.substr(git_prefix.size()) : url;
}

std::string index_url(const std::string& url) {
  if (url.ends_with(".json")) return url;
  return url + (url.ends_with('/') ? "" : "/") + "index.json";
}

std::string directory_url(const std::string& index) { return index.substr(0, index.rfind('/') + 1); }

Subscription subscription_in(const fs::path& directory) {
  Subscription one;
  one.directory = directory;
  one.name = directory.filename().native();
  const fs::path file = directory / subscription_file;
  const auto text = try_read_text(file, 1 << 20);
  const JsonValue document = parse_json(text.value_or(""), file.native(), {1 << 20, 4, 1000});
  JsonObject object(document, file.native(), "a subscription");
  one.url = object.text("url");
  one.pin = object.try_text("pin").value_or("");
  one.fixed = object.flag("fixed");
  one.recipes = object.try_uint("recipes").value_or(0);
  one.updated = object.try_text("updated").value_or("");
  one.reach = reach_of_subscription(directory);
  return one;
}

std::string text_of(const Subscription& one) {
  const Json json = {{"schema", 1},
                     {"url", one.url},
                     {"pin", one.pin},
                     {"fixed", one.fixed},
                     {"recipes", one.recipes},
                     {"updated", one.updated},
                     {"reach", reach_name(one.reach)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The recipes of a directory, by "KIND/NAME.json".
std::map<std::string, std::string> recipes_below(const fs::path& directory) {
  std::map<std::string, std::string> recipes;
  for (const auto& [kind, word, folder] : kind_names) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory / folder, error)) {
      if (entry.path().extension() != ".json") continue;
      if (const auto text = try_read_text(entry.path(), recipe_size_max))
        recipes.emplace(fmt::format("{}/{}", folder, entry.path().filename().native()), *text);
    }
  }
  return recipes;
}

// Takes a catalogue to pieces: what is fetched, checked and laid out, before it gets its place.
class Taking {
 public:
  Taking(const SessionSettings& settings, const fs::path& home, const Subscription& wanted, EventSink& events,
         std::stop_token stop)
      : settings_(settings), wanted_(wanted), events_(events), stop_(std::move(stop)), place_(home / "catalogues") {}
  ~Taking() { remove_tree(scratch()); }
  Taking(const Taking&) = delete;
  Taking& operator=(const Taking&) = delete;

  SubscriptionChange run(bool install) {
    SubscriptionChange change;
    const fs::path target = place_ / wanted_.name;
    if (try_stat(target / subscription_file)) change.before = subscription_in(target).pin;
    remove_tree(scratch());
    make_directories(scratch() / "tree");
    change.subscription = wanted_;
    change.subscription.directory = target;
    change.subscription.updated = time_text();
    const fs::path source = is_git_url(wanted_.url) ? take_git(change) : take_static(change);
    lay_out(source, change);
    compare(recipes_below(target), recipes_below(scratch() / "tree"), change);
    change.subscription.recipes = recipes_below(scratch() / "tree").size();
    change.subscription.reach = reach();
    if (change.subscription.recipes == 0) {
      throw Error(FailureKind::invalid, fmt::format("{} has no recipes", printable(wanted_.url, 1000)),
                  fmt::format("they are in the folders {}, or in these below recipes", kind_folders_text()));
    }
    if (install) put(target, change.subscription);
    return change;
  }

 private:
  // Of the farthest host that was asked; of none, by the words of the URL.
  [[nodiscard]] Reach reach() const {
    if (reach_) return *reach_;
    const std::string plain = plain_git_url(wanted_.url);
    const auto url = Url::try_parse(plain);
    if (!url) return plain.starts_with('/') ? Reach::host : Reach::global;
    return url->scheme() == "file" ? Reach::host : reach_of(*url);
  }

  [[nodiscard]] fs::path scratch() const { return place_ / fmt::format(".{}.new", wanted_.name); }

  // Through a recipe of its own: it is an asset as any other.
  AssetRecord fetch(const std::string& what, const Json& parts) {
    const bool is_code = parts.contains("git");
    Json recipe{{"schema", 1},
                {"kind", is_code ? "model" : "dataset"},
                {"name", fmt::format("catalogue-{}-{}", wanted_.name, what)}};
    recipe.update(parts);
    const fs::path file = scratch() / (what + ".json");
    write_text_atomically(file, recipe.dump());
    FetchRequest request;
    (is_code ? request.models : request.datasets) = {file.native()};
    request.refresh = true;
    request.view = true;
    FetchRecord record = Session(settings_).fetch(request, events_, stop_);
    AssetRecord& asset = record.assets.at(0);
    if (!asset.failures.empty()) {
      Failure failure = asset.failures.front().failure;
      failure.message = fmt::format("cannot fetch {}: {}", printable(wanted_.url, 1000), failure.message);
      throw Error(failure);
    }
    for (const SourceRecord& source : asset.sources)
      if (source.reach) reach_ = std::min(reach_.value_or(*source.reach), *source.reach);
    if (asset.path.empty())
      throw Error(FailureKind::invalid, fmt::format("{} is too large for a catalogue", printable(wanted_.url, 1000)));
    return std::move(asset);
  }

  fs::path take_git(SubscriptionChange& change) {
    Json git{{"origin", plain_git_url(wanted_.url)}};
    if (wanted_.fixed) git["commit"] = wanted_.pin;
    const AssetRecord asset = fetch("tree", {{"git", std::move(git)}});
    constexpr std::string_view prefix = "git commit ";
    change.subscription.pin =
        asset.trusted_by.starts_with(prefix) ? asset.trusted_by.substr(prefix.size()) : asset.manifest;
    return asset.path;
  }

  fs::path take_static(SubscriptionChange& change) {
    const std::string url = index_url(wanted_.url);
    Json fragment{{"id", "index"}, {"type", "file"}, {"path", "index.json"}, {"urls", {url}}};
    if (wanted_.fixed) fragment["checksum"] = {{"sha256", wanted_.pin.substr(wanted_.pin.find(':') + 1)}};
    const AssetRecord index = fetch("index", {{"fragments", Json::array({std::move(fragment)})}});
    const auto text = try_read_text(fs::path(index.path) / "index.json", 64 << 20);
    if (!text) throw Error(FailureKind::invalid, fmt::format("{} has no index", printable(wanted_.url, 1000)));
    change.subscription.pin = sha256(*text).prefixed();
    Json fragments = Json::array();
    for (const CatalogueFile& file : parse_index(*text, url)) {
      fragments.push_back({{"id", fmt::format("f{}", fragments.size())},
                           {"type", "file"},
                           {"path", file.path.text()},
                           {"urls", {directory_url(url) + percent_encode_path(file.path.text())}},
                           {"size", file.size_bytes},
                           {"checksum", {{"sha256", file.sha256.hex()}}}});
    }
    if (fragments.empty()) return scratch() / "tree";
    Json recipe{{"fragments", std::move(fragments)}};
    if (reach() != Reach::host) recipe["reach"] = reach_name(reach());  // as of any other list
    return fetch("recipes", recipe).path;
  }

  // Regular files alone, in the folders of recipes; each recipe under its own name.
  void lay_out(const fs::path& source, SubscriptionChange& change) {
    fs::path top = source;
    const auto has_folder = [](const fs::path& directory) {
      return std::ranges::any_of(kind_names,
                                 [&](const KindName& kind) { return try_stat(directory / kind.folder).has_value(); });
    };
    if (!has_folder(top)) top /= "recipes";
    for (const Tombstone& stone : tombstones_in({top})) put_tombstone_of(stone);
    for (const auto& [kind, word, folder] : kind_names) {
      std::error_code error;
      fs::recursive_directory_iterator at(top / folder, error);
      for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
        const auto status = try_lstat(at->path());  // a link may lead anywhere
        if (!status || !S_ISREG(status->st_mode)) continue;
        const std::string below = at->path().native().substr(top.native().size() + 1);
        take_file(at->path(), below, *status, change);
      }
    }
  }

  // As it is read here: what else its file may hold stays behind.
  void put_tombstone_of(const Tombstone& stone) const {
    const fs::path target = scratch() / "tree" / "removed" / stone.file.filename();
    make_directories(target.parent_path());
    write_text_atomically(target, text_of_tombstone(stone));
  }

  void take_file(const fs::path& file, const std::string& below, const struct stat& status,
                 SubscriptionChange& change) {
    files_ += 1;
    bytes_ += static_cast<std::uint64_t>(status.st_size);
    if (files_ > catalogue_files_max || bytes_ > catalogue_bytes_max) {
      throw Error(FailureKind::invalid,
                  fmt::format("{} is larger than a catalogue may be: {} files, {} bytes", printable(wanted_.url, 1000),
                              catalogue_files_max, catalogue_bytes_max));
    }
    const fs::path target = scratch() / "tree" / below;
    const bool is_recipe = file.extension() == ".json" && std::ranges::count(below, '/') == 1;
    if (is_recipe) {
      if (const std::string why = doubt_about(file, below); !why.empty()) {
        if (change.left_out.size() < lines_max) change.left_out.push_back(why);
        return;
      }
    }
    make_directories(target.parent_path());
    fs::copy_file(file, target, fs::copy_options::overwrite_existing);
    fs::permissions(target, fs::perms(0644) | ((status.st_mode & S_IXUSR) != 0 ? fs::perms(0111) : fs::perms::none));
  }

  static std::string doubt_about(const fs::path& file, const std::string& below) {
    const std::string_view folder = std::string_view(below).substr(0, below.find('/'));
    const AssetKind kind = try_kind_of_folder(folder).value_or(AssetKind::dataset);
    try {
      const Recipe recipe = parse_recipe(try_read_text(file, recipe_size_max).value_or(""), printable(below), kind);
      if (recipe.kind != kind) return fmt::format("{}: its \"kind\" says otherwise", printable(below));
      if (recipe.name != file.stem()) return fmt::format("{}: it is called {}", printable(below), recipe.name);
      return {};
    } catch (const Error& error) {
      return error.failure().message;
    }
  }

  static void compare(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& after,
                      SubscriptionChange& change) {
    for (const auto& [file, text] : after) {
      const auto found = before.find(file);
      if (found == before.end()) change.added.push_back(fs::path(file).stem());
      if (found != before.end() && found->second != text) change.changed.push_back(fs::path(file).stem());
    }
    for (const auto& [file, text] : before) {
      if (!after.contains(file)) change.removed.push_back(fs::path(file).stem());
    }
  }

  void put(const fs::path& target, const Subscription& subscription) const {
    const fs::path made = scratch() / "tree", old = place_ / fmt::format(".{}.old", wanted_.name);
    write_text_atomically(made / subscription_file, text_of(subscription), 0644, true);
    remove_tree(old);
    if (try_lstat(target)) rename_path(target, old);
    rename_path(made, target);
    sync_directory(place_);
    remove_tree(old);
  }

  const SessionSettings& settings_;
  const Subscription& wanted_;
  EventSink& events_;
  const std::stop_token stop_;
  const fs::path place_;
  std::uint64_t files_ = 0, bytes_ = 0;
  std::optional<Reach> reach_;
};

}  // namespace

bool is_git_url(const std::string& url) {
  if (url.starts_with(git_prefix) || url.starts_with("ssh:") || url.starts_with("git:") || url.ends_with(".git"))
    return true;
  const auto parsed = Url::try_parse(url);
  return parsed && parsed->scheme() == "file" && try_stat(fs::path(percent_decode(parsed->path())) / ".git");
}

std::string name_of_catalogue(const std::string& url) {
  std::string rest = url.substr(0, url.find_first_of("?#"));
  for (const std::string_view ending : {"/index.json", "/", ".git", "/"}) {
    if (rest.ends_with(ending)) rest.resize(rest.size() - ending.size());
  }
  const std::string name = to_lower(rest.substr(rest.find_last_of("/:") + 1));
  if (is_name(name) && name != "catalogues") return name;
  throw Error(FailureKind::usage, fmt::format("{} gives no name for a catalogue", printable(url, 1000)),
              fmt::format("name it by {}", option_text("as")));
}

std::vector<Subscription> subscriptions_in(const std::vector<fs::path>& directories) {
  std::vector<Subscription> all;
  for (const fs::path& directory : directories) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory / "catalogues", error)) {
      const std::string name = entry.path().filename().native();
      if (is_name(name) && try_stat(entry.path() / subscription_file)) all.push_back(subscription_in(entry.path()));
    }
  }
  std::ranges::sort(all, {}, &Subscription::name);
  return all;
}

SubscriptionChange take_catalogue(const SessionSettings& settings, const fs::path& home, const Subscription& wanted,
                                  bool install, EventSink& events, std::stop_token stop) {
  return Taking(settings, home, wanted, events, std::move(stop)).run(install);
}

}  // namespace sabath
