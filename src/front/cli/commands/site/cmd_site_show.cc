#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/described.h"
#include "cli/frame/presentation.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/site.h"

namespace sabath::cli {
namespace {
namespace cmd_site_show {

void line(std::string& text, std::string_view name, const std::string& value, const std::string& known) {
  text += fmt::format("{:<14} {}", printable(name, 60), printable(value, 300));
  if (!known.empty()) text += fmt::format("  ({})", printable(known, 300));
  text += "\n";
}

std::string size_text(const std::optional<std::uint64_t>& bytes) { return bytes ? format_bytes(*bytes) : "unknown"; }

std::string disk_text(const SiteDisk& disk) {
  std::string text = fmt::format("{} {}, {} of {} free", disk.path.native(),
                                 disk.filesystem.empty() ? "of an unknown filesystem" : disk.filesystem,
                                 size_text(disk.bytes_free), size_text(disk.bytes));
  if (disk.quota_bytes_left) text += fmt::format(", quota leaves {}", format_bytes(*disk.quota_bytes_left));
  return text + (disk.device.empty() ? "" : ", " + disk.device) + (disk.in_memory ? ", in memory" : "") +
         (disk.shared ? ", shared" : "");
}

std::string partition_text(const SitePartition& one) {
  return fmt::format("{}{}{}: {} nodes of {} cpus, {}, {} gpus; {}", one.name, one.usual ? " (usual)" : "",
                     one.transfer ? " (for transfers)" : "", one.nodes, one.cpus, format_bytes(one.memory_bytes),
                     one.gpus,
                     one.time_limit_seconds ? "at most " + format_duration(static_cast<double>(*one.time_limit_seconds))
                                            : "no time limit");
}

std::string software_text(const Software& one) {
  std::string text = one.module.empty() ? one.name + " " + one.version + " (no module)" : one.module;
  if (!one.features.empty()) text += fmt::format(" +{}", fmt::join(one.features, "+"));
  if (!one.chain.empty()) text += fmt::format(", after {}", fmt::join(one.chain, ", "));
  if (!one.needs.empty()) text += fmt::format(", needs {}", fmt::join(one.needs, ", "));
  return text;
}

void print(Context& context, const ShowSiteRecord& record) {
  const SiteProfile& profile = record.profile;
  std::string text;
  line(text, "profile", fmt::format("{} of {}", profile.name, record.file.native()), profile.description);
  for (const SiteFact& fact : profile.machine) line(text, fact.name, fact.value, fact.known);
  for (const SitePartition& one : profile.partitions) line(text, "partition", partition_text(one), one.known);
  for (const SiteDisk& one : profile.disks) line(text, "disk", disk_text(one), one.known);
  for (const SiteInterpreter& one : profile.interpreters)
    line(text, "interpreter", fmt::format("{} {}, {} packages", one.program, one.version, one.packages.size()),
         one.known);
  for (const Software& one : profile.software) line(text, "software", software_text(one), one.known);
  for (const PassedOver& one : profile.passed_over) line(text, "passed over", one.what, one.why);
  context.out.print(text);
}

}  // namespace cmd_site_show
}  // namespace

constexpr Verb site_show_verb{
    .name = "site show",
    .summary = "what a profile says of its machine, and how that is known",
    .examples =
        "sabath site show                 the profile of this host\n"
        "sabath site show juwels          one by its name, or by its file",
    .details =
        "Without a name it is the profile that `sabath run` takes here: that of SABATH_SITE, else the first "
        "whose hosts match this host.",
    .declare = declare<show_site, cmd_site_show::print>,
};

}  // namespace sabath::cli
