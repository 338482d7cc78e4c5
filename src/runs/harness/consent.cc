#include "harness/consent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/companion.h"
#include "base/file.h"
#include "base/wording.h"
#include "harness/assets.h"
#include "recipe/catalogue.h"
#include "recipe/shipped.h"
#include "recipe/subscribed.h"
#include "run/started.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/session_settings.h"
#include "sabath/url.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// A whole commit is a hash of everything; of an abbreviated one, others may make a second.
constexpr std::size_t whole_commit = 40;

bool is_own_place(const std::string& origin) {
  const auto url = Url::try_parse(origin);
  if (!url || url->scheme() != "file") return false;
  try {
    fs::path place = percent_decode(url->path());
    bool gone = false;  // the store has its code from then; the directory above it says whose it was
    for (; !try_stat(place) && place.has_relative_path(); place = place.parent_path()) gone = true;
    const auto status = try_stat(place);
    return status && ownership_of(place) == Ownership::own && (!gone || status->st_uid == ::geteuid());
  } catch (const Error&) {  // a malformed path is no user's
    return false;
  }
}

// A list may stand in a directory of the user's, and name what others have.
bool is_own_place(const Fragment& fragment) {
  return fragment.type != FragmentType::file_list &&
         std::ranges::all_of(fragment.urls, [](const Url& url) { return is_own_place(url.text()); });
}

// The checksum of a list is of the list alone.
bool names_its_bytes(const Fragment& fragment) {
  if (fragment.type == FragmentType::file_list) return false;
  const Checksums& sum = fragment.checksum;
  return !sum.sha256.empty() || !sum.sha384.empty() || !sum.sha512.empty() || is_own_place(fragment);
}

std::string origin_of(const CodeParts& parts) {
  if (parts.source) return (fs::path(parts.recipe).parent_path() / parts.source->text()).lexically_normal().string();
  if (parts.git) return parts.git->origin;
  return parts.fragments.empty() ? "" : parts.fragments.front().urls.front().display();
}

// Empty: there is none, and nothing came with it.
fs::path program_of(const SessionSettings& settings) {
  try {
    return find_companion(settings.program);
  } catch (const Error&) {
    return {};
  }
}

bool brings_tree(const Recipe& model) { return model.source || model.git || !model.fragments.empty(); }

std::string commit_of(const RunAsset& tree) { return tree.commit.empty() ? tree.manifest : tree.commit; }

CodeParts parts_of(const Recipe& model, const std::vector<Step>& steps, const std::optional<RunAsset>& tree) {
  CodeParts parts;
  parts.name = model.name;
  parts.recipe = model.origin;
  parts.source = model.source;
  parts.git = model.git;
  parts.fragments = model.fragments;
  parts.pinned = model.manifest.has_value();
  const std::vector<Started> all = what_starts(model, steps);
  parts.words = words_of(all);
  parts.commands = lines_of(all);
  if (tree) parts.commit = commit_of(*tree);
  return parts;
}

}  // namespace

RunRecord::Trust Consent::recorded() const {
  const char* recipe_of = code.recipe_of == Ownership::shipped ? "shipped"
                          : code.recipe_of == Ownership::own   ? "own"
                                                               : "others";
  return {verdict.by, recipe_of, code.origin, code.commit, code.digest.prefixed()};
}

bool is_own_place(const std::vector<Fragment>& fragments) {
  return !fragments.empty() &&
         std::ranges::all_of(fragments, [](const Fragment& fragment) { return is_own_place(fragment); });
}

bool is_fixed(const CodeParts& parts, Ownership recipe_of) {
  if (parts.source) {
    const fs::path beside = fs::path(parts.recipe).parent_path() / parts.source->text();
    return recipe_of == Ownership::shipped || ownership_of(beside) == Ownership::own;
  }
  if (parts.git) {  // a recipe that came with the program was read by those who released it
    const std::string& commit = parts.git->commit;
    return commit.size() >= whole_commit || (recipe_of == Ownership::shipped && !commit.empty()) ||
           is_own_place(parts.git->origin);
  }
  return parts.pinned || std::ranges::all_of(parts.fragments, names_its_bytes);
}

AssetCode code_of(const SessionSettings& settings, CodeParts parts) {
  const fs::path program = program_of(settings);
  AssetCode code;
  std::error_code unknown;
  const fs::path recipe = fs::canonical(parts.recipe, unknown);
  code.recipe = unknown ? parts.recipe : recipe.string();
  // A subscribed catalogue stands in a directory of the user's, and says what others wrote.
  code.subscribed = is_subscribed(parts.recipe);
  code.recipe_of = code.subscribed ? Ownership::others : ownership_of(parts.recipe, shipped_recipes(program), program);
  code.origin = origin_of(parts);
  code.fixed = is_fixed(parts, code.recipe_of);
  code.commit = std::move(parts.commit);
  if (code.commit.empty() && parts.git && parts.git->commit.size() >= whole_commit) code.commit = parts.git->commit;
  code.digest = digest_of(parts.words);
  code.name = std::move(parts.name);
  code.commands = std::move(parts.commands);
  return code;
}

AssetCode code_of(const SessionSettings& settings, const Recipe& model, const std::vector<Step>& steps,
                  const std::optional<RunAsset>& tree) {
  return code_of(settings, parts_of(model, steps, tree));
}

TrustRegistry trust_registry(const Environment& environment) {
  const fs::path home = environment.base_directory("XDG_CONFIG_HOME", ".config");
  return TrustRegistry(home.empty() ? home : home / "sabath/trusted");
}

TrustPolicy trust_policy(const std::string& said, const std::function<std::string(const std::string& about)>& ask,
                         std::string remedy) {
  TrustPolicy policy{.said = said, .ask = {}, .remedy = std::move(remedy)};
  if (ask) policy.ask = [&ask](const AssetCode& code) { return ask(text_of(code)); };
  return policy;
}

Consent ask_consent(const RunCall& call, const ResolvedRun& run) {
  Consent consent{code_of(call.caller.settings, run.model, run.steps, std::nullopt), {}};
  if (!needs_no_trust(consent.code) && brings_tree(run.model))
    consent.code = code_of(call.caller.settings, run.model, run.steps, bring_code(call, run.model));
  const TrustPolicy policy =
      trust_policy(call.request.trust, call.request.ask,
                   fmt::format("{} {} {}", verb_text("run"), run.model.name, option_text("trust")));
  consent.verdict = approve(consent.code, trust_registry(call.request.environment), policy);
  // What the steps use of other assets is code as well.
  for (const auto& [name, used] : run.used) {
    AssetCode code = code_of(call.caller.settings, used, {}, std::nullopt);
    if (needs_no_trust(code)) continue;
    code = code_of(call.caller.settings, used, {}, bring_code(call, used));
    static_cast<void>(approve(code, trust_registry(call.request.environment), policy));
  }
  return consent;
}

Consent foresee_consent(const SessionSettings& settings, const Environment& environment, const Recipe& model,
                        const std::vector<Step>& steps) {
  Consent consent{code_of(settings, model, steps, std::nullopt), {}};
  if (!needs_no_trust(consent.code)) consent.code = code_of(settings, model, steps, known_code(settings, model));
  consent.verdict = judge(consent.code, trust_registry(environment));
  return consent;
}

void check_consent(const RunCall& call, const ResolvedRun& run, const Consent& consent,
                   const std::vector<RunAsset>& assets) {
  if (needs_no_trust(consent.code) || !brings_tree(run.model)) return;
  const AssetCode now = code_of(call.caller.settings, run.model, run.steps, assets.front());
  if (now.commit == consent.code.commit) return;
  throw Error(FailureKind::access,
              fmt::format("the code of {} became {} while {} was looked at", printable(run.model.name),
                          printable(now.commit), printable(consent.code.commit)),
              "say it again");
}

}  // namespace sabath
