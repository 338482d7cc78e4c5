#include "apply/consent.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/wording.h"
#include "harness/consent.h"
#include "harness/data_code.h"
#include "run/started.h"
#include "sabath/session_settings.h"

namespace sabath {
namespace {

void ask(const AssetCode& code, const ApplyRequest& request, const std::string& name, const std::string& script) {
  const TrustPolicy policy =
      trust_policy(request.trust, request.ask,
                   fmt::format("{} {} {} {}", verb_text("apply"), name, shell_word(script), option_text("trust")));
  static_cast<void>(approve(code, trust_registry(request.environment), policy));
}

}  // namespace

void ask_consent(const SessionSettings& settings, const ApplyRequest& request, const Recipe& recipe,
                 const ChosenScript& chosen) {
  const SupportingScript& script = chosen.step.script;
  CodeParts parts;
  parts.name = recipe.name;
  parts.recipe = recipe.origin;
  parts.source = script.source;
  parts.commit = chosen.step.script_root;
  const std::vector<Started> all = what_starts(recipe, script);
  parts.words = words_of(all);
  parts.commands = lines_of(all);
  ask(code_of(settings, std::move(parts)), request, recipe.name, script.id);
}

void ask_data_consent(const SessionSettings& settings, const ApplyRequest& request, const Recipe& input,
                      const std::string& root, const std::filesystem::path& view, const std::vector<Entry>& files,
                      const std::stop_token& stop) {
  if (reads_unasked(settings, input)) return;
  std::vector<std::string> paths;
  for (const Entry& file : files) paths.push_back(file.path.text());
  auto found = code_in_files(view, paths, stop);
  if (!found.empty()) ask(code_in_data(settings, input, root, std::move(found)), request, input.name, request.script);
}

}  // namespace sabath
