#include "software/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "sabath/path.h"
#include "software/module_words.h"

namespace sabath {
namespace {

constexpr std::size_t partitions_max = 1000;

// "8+" is at least 8.
std::uint64_t count_at_front(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  return try_whole_number(text.substr(0, end)).value_or(0);
}

std::vector<std::string> columns_of(std::string_view line) {
  std::vector<std::string> columns;
  while (columns.size() < 16) {
    const auto end = std::min(line.find('|'), line.size());
    columns.emplace_back(trim(line.substr(0, end)));
    if (end == line.size()) return columns;
    line.remove_prefix(end + 1);
  }
  return columns;
}

// Nodes of several kinds have a line each: one partition, with the least that each of its nodes has.
void add_partition(std::vector<SitePartition>& partitions, SitePartition one) {
  const auto known = std::ranges::find(partitions, one.name, &SitePartition::name);
  if (known == partitions.end()) {
    if (partitions.size() < partitions_max) partitions.push_back(std::move(one));
    return;
  }
  known->nodes += one.nodes;
  known->cpus = std::min(known->cpus, one.cpus);
  known->memory_bytes = std::min(known->memory_bytes, one.memory_bytes);
  known->gpus = std::min(known->gpus, one.gpus);
  if (!one.transfer && known->transfer) {  // its other nodes have no such feature
    known->transfer = false;
    known->known = std::move(one.known);
  }
}

void note_transfer(SitePartition& one, std::string_view features) {
  const std::string of_name = word_of_transfer(one.name), of_nodes = word_of_transfer(features);
  one.transfer = !of_name.empty() || !of_nodes.empty();
  if (!of_name.empty()) one.known += fmt::format("; its name has \"{}\"", of_name);
  if (of_name.empty() && one.transfer) one.known += fmt::format("; a feature of its nodes has \"{}\"", of_nodes);
}

}  // namespace

std::string word_of_transfer(std::string_view text) {
  constexpr std::string_view words[] = {"transfer", "xfer",   "dtn",          "datamover", "datamovers",
                                        "dm",       "dmover", "datatransfer", "transfers", "data-transfer",
                                        "copy",     "copyq",  "dtnode"};
  const std::string lower = to_lower(text.substr(0, 4096));
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  for (const std::string_view word : words) {
    for (auto at = lower.find(word); at != std::string::npos; at = lower.find(word, at + 1)) {
      const auto end = at + word.size();
      if ((at == 0 || !is_letter(lower[at - 1])) && (end == lower.size() || !is_letter(lower[end])))
        return std::string(word);
    }
  }
  return "";
}

std::optional<std::uint64_t> seconds_of_limit(std::string_view text) {
  std::uint64_t days = 0, whole = 0;
  const auto dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto count = try_whole_number(text.substr(0, dash));
    if (!count || *count > 1'000'000) return std::nullopt;
    days = *count;
    text.remove_prefix(dash + 1);
  }
  const auto parts = parts_between(text, ':', 4);
  if (parts.empty() || parts.size() > 3) return std::nullopt;
  for (const std::string& part : parts) {
    const auto number = try_whole_number(part);
    if (!number || *number > 100'000'000) return std::nullopt;
    whole = whole * 60 + *number;
  }
  // Behind days it begins with hours; a single number is minutes.
  if (dash != std::string_view::npos && parts.size() == 1) whole *= 60;
  if (parts.size() == 1 || (dash != std::string_view::npos && parts.size() == 2)) whole *= 60;
  return days * 86400 + whole;
}

std::uint64_t gpus_of_gres(std::string_view text) {
  std::uint64_t gpus = 0;
  for (const std::string& one : parts_between(text, ',', 100)) {
    if (!one.starts_with("gpu")) continue;
    const std::string_view name = std::string_view(one).substr(0, one.find('('));
    const auto colon = name.rfind(':');
    gpus += colon == std::string_view::npos ? 1 : std::max<std::uint64_t>(count_at_front(name.substr(colon + 1)), 1);
  }
  return std::min<std::uint64_t>(gpus, 1024);
}

std::vector<SitePartition> parse_sinfo(std::string_view text) {
  std::vector<SitePartition> partitions;
  for (const std::string& line : parts_between(text, '\n', 100'000)) {
    const auto columns = columns_of(line);
    if (columns.size() < 7 || columns.size() > 8 || columns[1] != "up") continue;
    SitePartition one;
    one.usual = columns[0].ends_with('*');
    one.name = columns[0].substr(0, columns[0].size() - (one.usual ? 1 : 0));
    if (one.name.empty() || !is_plain_value(one.name)) continue;
    one.time_limit_seconds = seconds_of_limit(columns[2]);
    one.nodes = count_at_front(columns[3]);
    one.cpus = count_at_front(columns[4]);
    const std::uint64_t mebibytes = count_at_front(columns[5]);
    one.memory_bytes = std::min(mebibytes, std::numeric_limits<std::uint64_t>::max() >> 20U) << 20U;
    one.gpus = gpus_of_gres(columns[6]);
    one.known = "sinfo";
    note_transfer(one, columns.size() == 8 ? columns[7] : "");
    add_partition(partitions, std::move(one));
  }
  return partitions;
}

void detect_scheduler(Programs& programs, SiteProfile& profile) {
  const ProgramAnswer slurm = programs.ask({"sinfo", "--noheader", "--format=%P|%a|%l|%D|%c|%m|%G|%f"}, {}, 4U << 20U);
  if (slurm.came) {
    profile.partitions = parse_sinfo(slurm.out);
    profile.launcher = "srun";
    profile.machine.push_back({"scheduler", "slurm", "sinfo answers"});
    return;
  }
  // Of these only that they are there is known: their answers were not tried.
  const std::pair<const char*, const char*> others[] = {{"flux", "flux"}, {"qsub", "pbs"}, {"bsub", "lsf"}};
  for (const auto& [program, name] : others) {
    std::string why;
    if (programs.find(program, why).empty()) continue;
    profile.machine.push_back({"scheduler", name, fmt::format("{} is on PATH; its partitions: not asked", program)});
    return;
  }
  const bool slurm_silent = !slurm.program.empty() || slurm.why.starts_with("not asked");
  profile.machine.push_back({"scheduler", slurm_silent ? "slurm" : "none", fmt::format("sinfo: {}", slurm.why)});
}

}  // namespace sabath
