#include "harness/data_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/wording.h"
#include "formats/find_code.h"
#include "harness/assets.h"
#include "holdings/holding.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t lines_max = 100, lines_bytes_max = 512 << 10;
constexpr std::uint64_t note_bytes_max = 1 << 20;
// With the version of what is looked for: an older verdict counts for nothing.
std::string note_head() { return fmt::format("sabath code in data {}\n", find_code_version); }

void check_stop(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped while the data was looked into");
}

std::string line_of(const std::string& path, const CodeInFile& code) {
  const PickleFacts& facts = code.facts;
  std::string line = printable(path, 400);
  if (!code.where.empty()) line += fmt::format(", {}", printable(code.where, 200));
  line += fmt::format(": {}{}", code.form, code.hidden ? ", though its name says otherwise" : "");
  if (!facts.imports.empty()) line += fmt::format(", imports {}", fmt::join(facts.imports, ", "));
  if (facts.calls) line += ", calls";
  if (!facts.complete()) line += fmt::format("; not followed to its end: {}", printable(facts.trouble, 200));
  return line;
}

// The last line, if not all findings have one. A finding's has a colon.
std::string rest_line(std::size_t more) { return fmt::format("and {} more", more); }
bool is_rest_line(const std::string& line) { return line.starts_with("and ") && line.find(':') == line.npos; }

// Findings, of which the first are kept.
class Findings {
 public:
  Findings(fs::path directory, const std::stop_token& stop) : directory_(std::move(directory)), stop_(stop) {}

  void look_into(const std::string& path) {
    check_stop(stop_);
    const fs::path file = directory_ / path;
    try {
      for (const CodeInFile& code : find_code(file, [this] { check_stop(stop_); })) {
        if (code.facts.executes || code.facts.persistent_ids || !code.facts.complete()) add(line_of(path, code));
      }
    } catch (const Error& error) {  // damaged: another reader may see code where this one sees none
      const FailureKind kind = error.failure().kind;
      if (kind != FailureKind::invalid && kind != FailureKind::content) throw;
      add(fmt::format("{}: cannot be looked into: {}", printable(path, 400), printable(error.failure().message, 400)));
    }
  }

  std::vector<std::string> take() {
    std::vector<std::string> lines = std::move(lines_);
    if (more_ > 0) lines.push_back(rest_line(more_));
    return lines;
  }

 private:
  void add(std::string line) {
    if (lines_.size() < lines_max && bytes_ + line.size() <= lines_bytes_max) {
      bytes_ += line.size();
      lines_.push_back(std::move(line));
    } else {
      ++more_;
    }
  }

  fs::path directory_;
  const std::stop_token& stop_;
  std::vector<std::string> lines_;
  std::size_t bytes_ = 0, more_ = 0;
};

std::vector<std::string> files_below(const fs::path& directory, const std::stop_token& stop) {
  std::vector<std::string> paths;
  std::error_code error;
  fs::recursive_directory_iterator at(directory, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    check_stop(stop);
    std::error_code unknown;
    if (at->is_regular_file(unknown)) paths.push_back(at->path().native().substr(directory.native().size() + 1));
  }
  if (error) throw_errno("list", directory, error.value());
  std::ranges::sort(paths);
  return paths;
}

Sha256 note_key(const std::string& root) { return sha256(note_head() + root); }

std::string note_of(const std::vector<std::string>& lines) {
  const std::string body = lines.empty() ? "" : fmt::format("{}\n", fmt::join(lines, "\n"));
  return fmt::format("{}{}\n{}", note_head(), sha256(body).hex(), body);
}

// nullopt: there is none, or it is damaged.
std::optional<std::vector<std::string>> try_noted(Store& store, const std::string& root) {
  const auto note = store.index(note_key(root), note_bytes_max);
  if (!note || !note->starts_with(note_head())) return std::nullopt;
  const std::string_view rest = std::string_view(*note).substr(note_head().size());
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos || sha256(rest.substr(end + 1)).hex() != rest.substr(0, end)) return std::nullopt;
  std::vector<std::string> lines;
  for (std::string_view body = rest.substr(end + 1); !body.empty();) {
    const std::size_t length = body.find('\n');
    lines.emplace_back(body.substr(0, length));
    body.remove_prefix(length + 1);
  }
  return lines;
}

// The recipe of an asset of this run that holds data: the dataset, what it starts from, or a model's own files. A
// model's repository is code as a whole, and was decided about.
const Recipe* data_recipe(const ResolvedRun& run, const RunAsset& asset) {
  if (asset.role == "environment") return nullptr;  // code as a whole, and decided about
  if (asset.role == "from") return &*run.from;
  if (asset.role == "model") return &run.model;
  if (run.dataset && asset.kind == AssetKind::dataset) return &*run.dataset;
  return run.model.git || run.model.source || run.model.fragments.empty() ? nullptr : &run.model;
}

std::vector<std::string> found_in(const RunCall& call, const RunAsset& asset) {
  const bool verified = !call.dry && call.request.verify != "none";  // else the files may be others than the root's
  const auto store = verified && !asset.manifest.empty() ? try_open_store(call.caller.settings) : nullptr;
  return code_in_tree(store.get(), asset.manifest, asset.path, call.stop);
}

// nullopt: nothing in this asset has to be asked about.
std::optional<AssetCode> try_code_in(const RunCall& call, const ResolvedRun& run, const Consent& of_code,
                                     const RunAsset& asset) {
  const Recipe* recipe = data_recipe(run, asset);
  if (recipe == nullptr || !try_stat(asset.path)) return std::nullopt;
  const bool decided = recipe == &run.model && of_code.verdict.by != "own";  // about all that the model is
  if (decided || reads_unasked(call.caller.settings, *recipe)) return std::nullopt;
  std::vector<std::string> found = found_in(call, asset);
  if (found.empty()) return std::nullopt;
  return code_in_data(call.caller.settings, *recipe, asset.manifest, std::move(found));
}

}  // namespace

std::vector<std::string> code_in_files(const fs::path& directory, const std::vector<std::string>& paths,
                                       const std::stop_token& stop) {
  Findings findings(directory, stop);
  for (const std::string& path : paths) findings.look_into(path);
  return findings.take();
}

std::vector<std::string> code_in_tree(Store* store, const std::string& root, const fs::path& directory,
                                      const std::stop_token& stop) {
  const bool keeps = store != nullptr && !root.empty();
  if (keeps) {
    if (auto noted = try_noted(*store, root)) return std::move(*noted);
  }
  std::vector<std::string> lines = code_in_files(directory, files_below(directory, stop), stop);
  if (!keeps) return lines;
  try {
    store->put_index(note_key(root), note_of(lines));
  } catch (const Error&) {  // a store that cannot be written is looked into again
  }
  return lines;
}

bool reads_unasked(const SessionSettings& settings, const Recipe& recipe) {
  return needs_no_trust(code_in_data(settings, recipe, "", {}));
}

AssetCode code_in_data(const SessionSettings& settings, const Recipe& recipe, const std::string& root,
                       std::vector<std::string> found) {
  CodeParts parts;
  parts.name = recipe.name;
  parts.recipe = recipe.origin;
  parts.git = recipe.git;
  parts.fragments = recipe.fragments;
  parts.pinned = recipe.manifest.has_value();
  parts.words = {"code in data"};  // the root is a hash of all that it is
  const bool whole = found.empty() || !is_rest_line(found.back());
  parts.commands = std::move(found);
  parts.commit = root;
  AssetCode code = code_of(settings, std::move(parts));
  code.in_data = true;
  code.whole = whole;
  if (code.recipe_of != Ownership::shipped) code.fixed = is_own_place(recipe.fragments);
  return code;
}

std::vector<AssetCode> data_code(const RunCall& call, const ResolvedRun& run, const Consent& of_code,
                                 const RunAssets& assets) {
  std::vector<AssetCode> codes;
  for (const RunAsset& asset : assets.all) {
    if (auto code = try_code_in(call, run, of_code, asset)) codes.push_back(std::move(*code));
  }
  return codes;
}

void ask_data_consent(const RunCall& call, const ResolvedRun& run, const Consent& of_code, RunAssets& assets) {
  for (RunAsset& asset : assets.all) {
    auto code = try_code_in(call, run, of_code, asset);
    if (!code) continue;
    const TrustPolicy policy =
        trust_policy(call.request.trust, call.request.ask,
                     fmt::format("{} {} {}", verb_text("run"), run.model.name, option_text("trust")));
    const TrustVerdict verdict = approve(*code, trust_registry(call.request.environment), policy);
    asset.loads = {verdict.by, std::move(code->commands)};
  }
}

void foresee_data_consent(const RunCall& call, const ResolvedRun& run, const Consent& of_code, RunAssets& assets) {
  for (RunAsset& asset : assets.all) {
    auto code = try_code_in(call, run, of_code, asset);
    if (code) asset.loads = {judge(*code, trust_registry(call.request.environment)).by, std::move(code->commands)};
  }
}

}  // namespace sabath
