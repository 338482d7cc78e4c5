#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/verbs/fair.h"

namespace sabath::cli {
namespace {
namespace cmd_fair {

struct Options {
  FairRequest request;
  bool all = false;
};

std::string text_of(const FairAsset& asset) {
  std::string text = asset.name + "\n";
  for (const FairPrinciple& one : asset.principles) {
    text += fmt::format("  {}  {:9}  {}\n", one.name, one.answer, printable(one.by, 200));
    if (!one.remedy.empty())
      text += fmt::format("                 sabath catalogue edit {} '{}'\n", asset.name, one.remedy);
  }
  return text;
}

const char* mark_of(const std::string& answer) {
  return answer == "yes" ? "   +" : answer == "part" ? "   ~" : answer == "no" ? "   -" : "   ?";
}

std::string table_of(const std::vector<FairAsset>& assets) {
  std::size_t width = 4;
  for (const FairAsset& asset : assets) width = std::max(width, asset.name.size());
  std::string text = fmt::format("{:{}}", "name", width);
  for (const FairPrinciple& one : assets.front().principles) text += "  " + one.name;
  text += "\n";
  for (const FairAsset& asset : assets) {
    text += fmt::format("{:{}}", asset.name, width);
    for (const FairPrinciple& one : asset.principles) text += mark_of(one.answer);
    text += "\n";
  }
  return text + "+ yes, ~ part, - no, ? not asked\n";
}

int run(Context& context, const Options& options) {
  if (options.request.names.empty() != options.all)
    throw Error(FailureKind::usage, "what to ask about is not said", "name assets, or say --all");
  Session session(context.configuration.session);
  NoEvents unheard;
  const FairRecord record = fair(session, options.request, unheard, context.stop);
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
  } else if (options.all && !record.assets.empty()) {
    context.out.print(table_of(record.assets));
  } else {
    for (const FairAsset& asset : record.assets) context.out.print(text_of(asset));
  }
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  declare_fields(set, options->request);
  set.flag("--all", options->all, "every asset, as a table");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_fair
}  // namespace

constexpr Verb fair_verb{
    .name = "fair",
    .summary = "ask how findable, accessible, interoperable and reusable an asset is",
    .examples =
        "sabath fair cosmoflow      F1 to R3: yes, part or no, by what, and what would mend it\n"
        "sabath fair --all          a table; no source is asked",
    .details =
        "Answers are tried: the identifier is looked up, the sources are asked whether they have the files, the "
        "document is read back. With --offline, and in the table, no source is asked, and the answer says so. "
        "docs/fair.md has the rules.",
    .declare = cmd_fair::declare,
    .once = true,
};

}  // namespace sabath::cli
