#include "verbs/care/bundle_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/asked_file.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/recipe.h"
#include "verbs/assets/assets.h"

namespace sabath {

OutputFile::OutputFile(std::string name)
    : name_(std::move(name)),
      unfinished_(unfinished_name(name_, "new")),
      file_(open_file(unfinished_, O_WRONLY | O_CREAT | O_EXCL)) {}

OutputFile::~OutputFile() {
  if (file_) ::unlink(unfinished_.c_str());
}

void OutputFile::finish() {
  sync_file(file_.get(), unfinished_);
  rename_path(unfinished_, name_);
  close_file(std::move(file_), name_);
}

WantList read_want_list(const std::string& file) {
  refuse_directory(file);
  const auto bytes = try_read_text(file, want_list_size_max);
  if (!bytes) {
    throw Error(FailureKind::usage, fmt::format("there is no want-list {}", printable(file)),
                fmt::format("`{} NAME {} FILE` makes one, on the machine where something is missing", verb_text("want"),
                            option_text("output")));
  }
  return parse_want_list(*bytes, printable(file));
}

namespace {

std::string kind_text(AssetKind kind) {
  return kind == AssetKind::dataset ? std::string() : std::string(kind_name(kind));
}

}  // namespace

std::string bundled_kind(const std::string& name, const Catalogue& catalogue) {
  try {
    const auto recipe = catalogue.try_find(name, std::nullopt);
    return recipe ? kind_text(recipe->kind) : "";
  } catch (const Error&) {  // its content goes all the same
    return "";
  }
}

BundledAsset bundled_asset(const std::string& name, const SessionSettings& settings, Store& store) {
  if (name.starts_with("sha256:")) return {name, "", "", Sha256::parse(name)};
  const Recipe recipe = make_catalogue(settings).find(name, std::nullopt);
  const Holding holding = holding_of(recipe, &store);
  return {recipe.name, holding.trusted_by, holding.source, holding.root.value_or(Sha256{}), kind_text(recipe.kind)};
}

}  // namespace sabath
