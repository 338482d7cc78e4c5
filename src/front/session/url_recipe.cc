#include "session/url_recipe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/glob.h"
#include "base/query.h"
#include "base/text.h"
#include "base/wording.h"
#include "recipe/parse.h"
#include "recipe/recipe_file.h"
#include "sabath/error.h"
#include "sabath/metadata.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t name_bytes_max = 100;  // a number may follow, and a recipe's name has 128 at most
constexpr unsigned same_names_max = 1000;
constexpr std::string_view letters_and_digits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

// The name of a parameter that is a key to the source: a signature, a token, a password. Empty: there is none.
std::string key_in_query(std::string_view query) {
  constexpr std::array<std::string_view, 4> whole{"sig", "key", "auth", "pwd"};
  constexpr std::array<std::string_view, 9> parts{"signature", "token",   "secret",     "password", "passwd",
                                                  "apikey",    "api_key", "credential", "accesskey"};
  while (const auto one = next_parameter(query)) {
    const std::string name = to_lower(one->name);
    const bool secret =
        std::ranges::find(whole, name) != whole.end() ||
        std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != std::string::npos; });
    if (secret) return std::string(one->name);
  }
  return {};
}

Url parse_source(std::string_view text) {
  Url url = Url::parse(text.substr(0, text.find('#')));
  if (url.host() == "doi.org" || url.host() == "dx.doi.org" || url.host() == "www.doi.org")
    url = Url::parse("doi:" + url.path().substr(std::min<std::size_t>(1, url.path().size())));
  if (const std::string key = key_in_query(url.query()); !key.empty()) {
    throw Error(FailureKind::usage,
                fmt::format("{} has a key in its query ({}), and a recipe would keep it for all to read",
                            printable(url.display(), 1000), printable(key)),
                "leave the query out, and put the key where the configuration finds it (docs/credentials.md)");
  }
  return url;
}

// A recipe's name made of any text: other characters become '-', and it begins with a letter or digit.
std::string as_name(std::string_view text) {
  std::string name;
  for (const char byte : text.substr(0, name_bytes_max)) {
    const bool fits = letters_and_digits.find(byte) != std::string_view::npos;
    if (fits || (!name.empty() && std::string_view("._+-").find(byte) != std::string_view::npos)) {
      name += byte;
    } else if (!name.empty() && !name.ends_with('-')) {
      name += '-';
    }
  }
  if (name.ends_with(".json")) name.resize(name.size() - 5);  // that would be a recipe's path
  while (!name.empty() && letters_and_digits.find(name.back()) == std::string_view::npos) name.pop_back();
  return name;
}

// By the last part of the path that is no pattern, without a revision; "zenodo:1234/*.csv" is zenodo-1234.
std::string own_name(const Url& url) {
  std::string path = percent_decode(url.path());
  while (!path.empty() && (path.ends_with('/') || is_glob(path.substr(path.rfind('/') + 1)))) {
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  const bool opaque = url.host().empty() && url.scheme() != "file";
  std::string part = opaque ? url.scheme() + "-" + path : path.substr(path.rfind('/') + 1);
  part.resize(std::min(part.find('@', 1), part.size()));
  for (const std::string& text : {std::move(part), url.host(), url.scheme()}) {
    if (std::string name = as_name(text); !name.empty()) return name;
  }
  return "source";
}

nlohmann::ordered_json fragment_of(const Url& url, const FetcherSet& fetchers) {
  const auto schemes = fetchers.schemes();
  if (std::ranges::none_of(schemes, [&](const Scheme& s) { return s.built && s.name == url.scheme(); })) {
    throw Error(FailureKind::unavailable,
                fmt::format("no fetcher of this build reads {}: URLs", printable(url.scheme())),
                fmt::format("`{}` lists those that it reads", verb_text("fetchers")));
  }
  if (fetchers.resolver_for(url) != nullptr) return {{"id", "all"}, {"type", "file_list"}, {"urls", {url.text()}}};
  const std::string file = url.file_name();
  if (file.empty()) {
    throw Error(FailureKind::usage, fmt::format("{} names no file", printable(url.display(), 1000)),
                url.scheme() == "file"
                    ? hint_for_data(percent_decode(url.path()))
                    : fmt::format("name a file; `{}` tells which places can be listed", verb_text("fetchers")));
  }
  return {{"id", "main"}, {"type", "file"}, {"path", file}, {"urls", {url.text()}}};
}

// All that it fetches is this URL, or what the document there says.
bool is_of(const Recipe& recipe, const Url& url) {
  const auto& pages = metadata_of(recipe).read_from;
  if (const auto page = pages.find("name"); page != pages.end() && page->second == std::vector{url.text()}) return true;
  return recipe.fragments.size() == 1 && recipe.fragments.front().urls == std::vector{url} && !recipe.git;
}

std::string shown_source(const Recipe& recipe) {
  const bool has_url = !recipe.fragments.empty() && !recipe.fragments.front().urls.empty();
  return has_url ? recipe.fragments.front().urls.front().display() : recipe.origin;
}

// `own`, or with a number where another recipe has it.
std::string free_name(const std::string& own, const std::set<std::string>& taken) {
  std::string chosen = own;
  for (unsigned n = 2; taken.contains(to_lower(chosen)); ++n) {
    if (n > same_names_max) {
      throw Error(FailureKind::usage, fmt::format("{} recipes have the name {} and a number", same_names_max, own),
                  "choose the name yourself");
    }
    chosen = fmt::format("{}-{}", own.substr(0, name_bytes_max), n);
  }
  return chosen;
}

// A DOI is described by its own record only.
bool is_about(const Recipe& recipe, const Url& url) {
  if (url.scheme() != "doi") return true;
  const std::string asked = to_lower(percent_decode(url.path())), said = to_lower(metadata_of(recipe).doi);
  return asked == said || asked.starts_with(said + "/");  // behind it stands a pattern
}

bool names_files(const Recipe& recipe) {
  return std::ranges::any_of(recipe.fragments, [](const Fragment& f) { return f.type != FragmentType::file_list; });
}

Fragment listing_of(const Url& url) {
  Fragment fragment;
  fragment.id = "all";
  fragment.type = FragmentType::file_list;
  fragment.urls = {url};
  return fragment;
}

// The first of what is not understood, with its place.
std::string note_of(const DocumentRecipe& document, const Url& url, std::string_view read) {
  constexpr std::size_t shown_max = 5;
  const auto& others = document.passed_over;
  std::string note = fmt::format("{} {} {}", printable(url.display(), 1000), read, document.standard);
  for (std::size_t i = 0; i < std::min(others.size(), shown_max); ++i)
    note += fmt::format("{}{}", i == 0 ? "; not understood: " : ", ", others[i]);
  if (others.size() > shown_max) note += fmt::format(", and {} more", others.size() - shown_max);
  return note;
}

}  // namespace

bool names_source(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos || colon < 2 || word.find('/') < colon) return false;
  return letters_and_digits.substr(0, 52).find(word.front()) != std::string_view::npos;
}

UrlRecipe recipe_for(std::string_view text, const std::string& name, const Catalogue& known, const FetcherSet& fetchers,
                     const DocumentAt& document_at) {
  const Url url = parse_source(text);
  std::set<std::string> taken;
  for (const Catalogue::Listed& listed : known.all(std::nullopt)) {
    taken.insert(to_lower(fs::path(listed.file).stem().native()));
    if (!listed.recipe) continue;
    taken.insert(to_lower(listed.recipe->name));
    const bool wanted = name.empty() || listed.recipe->name == name;
    if (wanted && is_of(*listed.recipe, url)) {
      Recipe recipe = *listed.recipe;
      known.note_namer(recipe);
      return {std::move(recipe), {}};
    }
    if (!name.empty() && to_lower(listed.recipe->name) == to_lower(name)) {
      throw Error(FailureKind::usage,
                  fmt::format("{} is the name of another asset ({}), and cannot be that of {}", printable(name),
                              printable(shown_source(*listed.recipe), 1000), printable(url.display(), 1000)),
                  "give another name");
    }
  }
  UrlDocuments::Found document;
  const bool asks = document_at && fetchers.resolver_for(url) == nullptr && may_describe(url);
  if (asks) document = document_at(url);
  const auto free = [&](const std::string& own) { return name.empty() ? free_name(own, taken) : name; };
  const std::string origin = "the recipe of " + printable(url.display(), 1000);
  const auto of_document = [&](DocumentRecipe& read, const char* how) -> UrlRecipe {
    std::string written = text_of_recipe(read.recipe, url);
    return {parse_recipe(written, origin, read.recipe.kind), written, note_of(read, url, how)};
  };
  if (document.recipe) {
    document.recipe->recipe.name = free(document.recipe->recipe.name);
    return of_document(*document.recipe, "is read as");
  }
  const Url source = document.leads_on ? Url::parse("landing+" + url.text()) : url;
  const auto fragment = fragment_of(source, fetchers);
  UrlDocuments::Found described;
  if (document_at && fetchers.resolver_for(source) != nullptr) described = document_at(source);
  if (described.recipe && is_about(described.recipe->recipe, url)) {
    Recipe& recipe = described.recipe->recipe;
    recipe.name = free(own_name(url));
    if (!document.leads_on || !names_files(recipe)) {
      recipe.fragments = {listing_of(source)};
      recipe.access = {};  // the source itself says what it gives
      recipe.reach.reset();
    }
    return of_document(*described.recipe, "is described by");
  }
  nlohmann::ordered_json recipe{{"schema", 1},
                                {"kind", "dataset"},
                                {"name", free(own_name(url))},
                                {"fragments", nlohmann::ordered_json::array({fragment})}};
  if (document.leads_on) recipe["read_from"] = {{"name", url.text()}};
  std::string written = recipe.dump(2) + "\n";
  return {parse_recipe(written, origin, AssetKind::dataset), written};
}

fs::path home_for_recipes(const std::vector<fs::path>& homes) {
  for (const fs::path& home : homes) {
    fs::path there = home / "datasets";
    while (there.has_relative_path() && !try_stat(there)) there = there.parent_path();
    if (::access(there.c_str(), W_OK | X_OK) == 0) return home;
  }
  throw Error(FailureKind::usage, "there is no directory into which the recipe of a URL could be written",
              "name one of yours in SABATH_RECIPES, or set HOME");
}

fs::path write_recipe(const UrlRecipe& made, const fs::path& home, EventSink& events) {
  const fs::path file = home / kind_folder(made.recipe.kind) / (made.recipe.name + ".json");
  make_directories(file.parent_path());
  if (try_lstat(file)) {
    throw Error(FailureKind::storage,
                fmt::format("cannot write the recipe {}: there is such a file, since a moment ago",
                            printable(file.native(), 1000)),
                "what was fetched is kept: run the same command again");
  }
  write_text_atomically(file, made.text);
  events.on(event::Message{fmt::format("recipe: {}; from now on `{} {}` means it", printable(file.native(), 1000),
                                       verb_text("fetch"), made.recipe.name)});
  return file;
}

}  // namespace sabath
