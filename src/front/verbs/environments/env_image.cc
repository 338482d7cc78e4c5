#include "sabath/verbs/env_image.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "base/wording.h"
#include "fetch/hosts/space_guard.h"
#include "fetch/known_tree.h"
#include "holdings/holding.h"
#include "holdings/registration.h"
#include "packing/stored_environment.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "software/programs.h"
#include "store/views/write_tree.h"
#include "verbs/environments/environment_name.h"
#include "verbs/environments/environment_tree.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours image_patience{4};
constexpr const char* image_program = "mksquashfs";

// The same for every user: owners and times are left out of the image, modes are not.
void set_modes(const fs::path& tree) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(tree, error), end; !error && at != end; at.increment(error)) {
    const auto status = try_lstat(at->path());
    if (!status || S_ISLNK(status->st_mode)) continue;
    const bool executable = S_ISDIR(status->st_mode) || (status->st_mode & S_IXUSR) != 0;
    if (::chmod(at->path().c_str(), executable ? 0755 : 0644) != 0) throw_errno("chmod", at->path(), errno);
  }
  if (error) throw_errno("list", tree, error.value());
  if (::chmod(tree.c_str(), 0755) != 0) throw_errno("chmod", tree, errno);
}

bool is_image(const Manifest& tree) {
  bool found = false;
  if (tree.totals().files != 1) return false;
  tree.for_each([&](const Entry& each) { found = found || each.path.text().ends_with(".squashfs"); });
  return found;
}

void require_program(Programs& programs) {
  std::string why;
  if (!programs.find(image_program, why).empty()) return;
  throw Error(FailureKind::not_found, why,
              fmt::format("install squashfs-tools, or stage the tree itself: {}", verb_text("stage")));
}

std::string first_line(const std::string& text) { return std::string(trim(text.substr(0, text.find('\n')))); }

// Nothing of the place, the user or the time goes into it.
void make_image(Programs& programs, const fs::path& tree, const fs::path& file, ImageCompression compression) {
  std::vector<std::string> argv{image_program, tree, file};
  for (const char* word : {"-noappend", "-all-root", "-all-time", "0", "-mkfs-time", "0", "-no-xattrs", "-no-progress",
                           "-quiet", "-comp", "zstd"})
    argv.emplace_back(word);
  if (compression == ImageCompression::none)
    for (const char* word : {"-noI", "-noD", "-noF", "-noX"}) argv.emplace_back(word);
  const ProgramAnswer answer = programs.ask(std::move(argv), {{"SOURCE_DATE_EPOCH", ""}});
  if (answer.came && try_lstat(file)) return;
  const std::string said = first_line(answer.err);
  throw Error(FailureKind::command,
              fmt::format("{} made no image: {}", image_program, printable(said.empty() ? answer.why : said, 500)));
}

}  // namespace

EnvImageRecord env_image(Session& session, const EnvImageRequest& request, EventSink& events, std::stop_token stop) {
  const SessionSettings& settings = session.settings();
  const bool by_root = request.environment.starts_with("sha256:");
  EnvImageRecord record;
  record.name = request.name;
  if (record.name.empty()) record.name = by_root ? "environment-image" : request.environment + "-image";
  const EnvironmentTree tree = environment_tree(settings, request.environment, false, events, stop);
  if (!tree.in_store)
    throw Error(FailureKind::usage,
                fmt::format("{} is a directory: an image is made of what the store has", printable(tree.name)),
                "name a packed environment");
  const auto store = open_stores(settings);
  refuse_taken_name(settings, *store, record.name, is_image);
  const Lease lease = store->lease({tree.manifest->root()}, "env image " + record.name, {true});
  Programs programs(request.variables, TrustedOwners({settings.trusted_owners.begin(), settings.trusted_owners.end()}),
                    {image_patience, image_patience}, stop);
  require_program(programs);
  record.made_by = first_line(programs.ask({image_program, "-version"}).out);
  if (!all_present(*store, *tree.manifest))
    throw Error(FailureKind::offline, fmt::format("{} is not in the store, wholly", printable(tree.name)),
                fmt::format("`{} {}` says what is missing", verb_text("verify"), printable(tree.name)));
  const Totals totals = tree.manifest->totals();
  SpaceGuard space(*store, "env image " + record.name, {}, stop);
  space.reserve(2 * totals.bytes, totals.files, record.name);
  PackingPlace place(*store);
  events.on(event::AssetStarted{record.name, std::nullopt, 0});
  events.on(event::PhaseChanged{"image"});
  const fs::path source = place.tree().parent_path() / "source";
  write_tree(*store, *tree.manifest, source, TreeFiles::copies);
  set_modes(source);
  record.file = (by_root ? "environment" : request.environment) + ".squashfs";
  std::ranges::replace(record.file, '/', '+');
  make_image(programs, source, place.tree() / record.file, request.compression);
  const StoredEnvironment stored = store_environment(*store, place, events, stop);
  record.manifest = stored.root.prefixed();
  record.environment = tree.manifest->root().prefixed();
  record.bytes = stored.bytes;
  record.environment_bytes = totals.bytes;
  Registration known = register_name(settings, *store, record.name, stored.root,
                                     fmt::format("sabath env image {}", request.environment));
  if (known.leads_here) {
    record.known_by = std::move(known.file);
    record.path = show_asset(settings, *store, record.name, stored.root, stop);
  }
  events.on(event::AssetFinished{record.name});
  return record;
}

template <>
struct WordsOf<ImageCompression> {
  static constexpr std::string_view words = "zstd|none";
  static std::string_view text(ImageCompression each) { return each == ImageCompression::none ? "none" : "zstd"; }
  static std::optional<ImageCompression> parse(std::string_view text) {
    return text == "none" ? ImageCompression::none : ImageCompression::zstd;
  }
};

template <>
struct Described<EnvImageRequest> {
  using Of = EnvImageRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(environment, .help = "a packed environment, or its root (sha256:HEX)", .required = true,
                   .argument = "NAME"),
      SABATH_FIELD(name, .help = "of the image, for all who use the store; default: NAME-image", .value = "IMAGE"),
      SABATH_FIELD(compression, .help = "none: a mount reads more of the disk, and needs less of the processor"),
      SABATH_FIELD(variables, .help = "of the caller", .hidden = true),
  };
};

template <>
struct Described<EnvImageRecord> {
  using Of = EnvImageRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "of the image, as `sabath stage` takes it"),
      SABATH_FIELD(manifest, .help = "its root"),
      SABATH_FIELD(environment, .help = "the root of the environment in it"),
      SABATH_FIELD(file, .help = "the image, in its asset"),
      SABATH_FIELD(bytes, .help = "of the image", .unit = "bytes"),
      SABATH_FIELD(environment_bytes, .help = "of the files in it", .unit = "bytes"),
      SABATH_FIELD(made_by, .help = "the program, and its version: another one may give another root"),
      SABATH_FIELD(known_by, .help = "the recipe that gives the name this root; null: another recipe has the name",
                   .null_if_empty = true),
      SABATH_FIELD(path, .help = "its view; null: there is none", .null_if_empty = true),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const EnvImageRecord& record) { return record_text(record); }

extern constexpr LibraryVerb env_image_call = described<env_image>(
    "env image",
    {.summary = "make a packed environment one file that a site can mount",
     .examples = "sabath env image numbers && sabath stage numbers-image --to /local/me\n"
                 "squashfuse /local/me/numbers-image/numbers.squashfs /local/me/numbers\n"
                 ". /local/me/numbers/bin/activate",
     .details = "The file is an asset of its own: one inode, squashfs, made by mksquashfs. Two of one environment, by "
                "one version of the program, have one root. The page docs/environments.md says when it pays.",
     .group = "runs"});

}  // namespace sabath
