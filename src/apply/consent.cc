#include "apply/consent.h"

#include <fmt/format.h>

#include "base/wording.h"
#include "harness/consent.h"

namespace sabath {

void ask_consent(const SessionSettings& settings, const ApplyRequest& request, const Recipe& recipe,
                 const ChosenScript& chosen) {
  const SupportingScript& script = chosen.step.script;
  Recipe code_alone;  // of the recipe only what decides what the script does
  code_alone.name = recipe.name;
  code_alone.origin = recipe.origin;
  code_alone.source = script.source;
  RunAsset tree;
  tree.manifest = chosen.step.script_root;
  AssetCode code = code_of(settings, code_alone, {Step{.argv = script.argv}}, tree);
  std::vector<std::string> words{code.digest.prefixed()};
  for (const ScriptArgument& argument : script.arguments)
    words.insert(words.end(), {"default", argument.name, argument.fallback.value_or("")});
  code.digest = digest_of(words);
  TrustPolicy policy{.said = request.trust, .ask = {}, .remedy = {}};
  if (request.ask) policy.ask = [&](const AssetCode& about) { return request.ask(text_of(about)); };
  policy.remedy = fmt::format("{} {} {} {}", verb_text("apply"), recipe.name, script.id, option_text("trust"));
  static_cast<void>(approve(code, trust_registry(request.environment), policy));
}

}  // namespace sabath
