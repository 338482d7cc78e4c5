#include "software/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_reader.h"
#include "base/text.h"
#include "sabath/error.h"
#include "software/profile_fields.h"
#include "software/version.h"

namespace sabath {
namespace {

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

// What a person fills in for `run`.
constexpr const char* written_by_people[] = {"modules", "launchers", "containers"};

std::string value_of_fact(const SiteProfile& profile, const std::string& name) {
  std::string all;
  for (const SiteFact& fact : profile.machine)
    if (fact.name == name) all += (all.empty() ? "" : ", ") + fact.value;
  return all;
}

// Versions of each name in lower case, newest first, with the features that are known.
std::map<std::string, std::vector<std::string>> versions_by_name(const SiteProfile& profile) {
  std::map<std::string, std::vector<std::string>> all;
  for (const Software& one : profile.software) {
    const std::string features = one.features.empty() ? "" : fmt::format("+{}", fmt::join(one.features, "+"));
    all[to_lower(one.name)].push_back(one.version + features);
  }
  for (auto& [name, versions] : all) {
    std::ranges::sort(versions, [](const std::string& a, const std::string& b) {
      const int order = compare_versions(a, b);
      return order != 0 ? order > 0 : a < b;
    });
    versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  }
  return all;
}

std::string shown_versions(const std::vector<std::string>& versions) {
  return fmt::format("{}", fmt::join(versions, ", "));
}

std::string meaning_of_fact(const std::string& name) {
  static const std::map<std::string, const char*> meanings{
      {"mpi", "programs that were linked with the one do not start under the other"},
      {"mpi with cuda", "arrays of a GPU cannot be sent by MPI where it says no"},
      {"gpus", "ranks for each node differ"},
      {"gpu kind", "programs for the one kind do not run on the other"},
      {"cuda", "what needs a newer CUDA than it is there does not run there"},
      {"scheduler", "batch scripts of the one are not for the other"},
      {"module system", "names and defaults of modules differ"},
      {"interconnect", "MPI takes another transport"},
      {"proxy", "a fetch on the one may not reach what it reaches on the other"}};
  const auto found = meanings.find(name);
  return found == meanings.end() ? "" : found->second;
}

void compare_facts(const SiteProfile& before, const SiteProfile& after, std::vector<SiteDifference>& all) {
  std::vector<std::string> names;
  for (const SiteProfile* profile : {&before, &after}) {
    for (const SiteFact& fact : profile->machine)
      if (std::ranges::find(names, fact.name) == names.end()) names.push_back(fact.name);
  }
  for (const std::string& name : names) {
    const std::string one = value_of_fact(before, name), other = value_of_fact(after, name);
    if (one != other && name != "modules") all.push_back({name, one, other, meaning_of_fact(name)});
  }
}

void compare_software(const SiteProfile& before, const SiteProfile& after, std::vector<SiteDifference>& all) {
  const auto left = versions_by_name(before), right = versions_by_name(after);
  std::set<std::string> names;
  for (const auto* side : {&left, &right})
    for (const auto& [name, versions] : *side) names.insert(name);
  for (const std::string& name : names) {
    const auto one = left.find(name), other = right.find(name);
    if (other == right.end() || one == left.end()) {
      const bool gone = other == right.end();
      all.push_back({"software " + name, gone ? shown_versions(one->second) : "",
                     gone ? "" : shown_versions(other->second),
                     fmt::format("a recipe that needs {} finds it on one of them only", name)});
    } else if (one->second != other->second) {
      const bool common = std::ranges::any_of(one->second, [&](const std::string& version) {
        return std::ranges::find(other->second, version) != other->second.end();
      });
      all.push_back({"software " + name, shown_versions(one->second), shown_versions(other->second),
                     common ? "ask for a version that both have" : "no version of it is on both"});
    }
  }
}

void compare_places(const SiteProfile& before, const SiteProfile& after, std::vector<SiteDifference>& all) {
  const auto disks = [](const SiteProfile& profile) {
    std::map<std::string, std::string> texts;
    for (const SiteDisk& disk : profile.disks) {
      texts[disk.path.string()] = fmt::format("{}{}{}", disk.filesystem.empty() ? "unknown" : disk.filesystem,
                                              disk.in_memory ? ", in memory" : "", disk.shared ? ", shared" : "");
    }
    return texts;
  };
  const auto partitions = [](const SiteProfile& profile) {
    std::map<std::string, std::string> texts;
    for (const SitePartition& one : profile.partitions) {
      texts[one.name] = fmt::format(
          "{} nodes, {} cpus, {} gpus, {}", one.nodes, one.cpus, one.gpus,
          one.time_limit_seconds ? format_duration(static_cast<double>(*one.time_limit_seconds)) : "no time limit");
    }
    return texts;
  };
  const auto compare = [&](std::map<std::string, std::string> left, std::map<std::string, std::string> right,
                           const std::string& what, const char* meaning) {
    for (const auto& [name, text] : right) left.try_emplace(name);
    for (const auto& [name, text] : left)
      if (text != right[name]) all.push_back({what + name, text, right[name], meaning});
  };
  compare(disks(before), disks(after), "disk ", "say where data goes on each of them");
  compare(partitions(before), partitions(after), "partition ", "a job names another partition, or asks for less");
}

void compare_packages(const SiteProfile& before, const SiteProfile& after, std::vector<SiteDifference>& all) {
  const auto packages = [](const SiteProfile& profile) {
    std::map<std::string, std::string> texts;
    for (const SiteInterpreter& one : profile.interpreters) {
      texts.try_emplace("python", one.version);
      for (const auto& [name, version] : one.packages) texts.try_emplace("python package " + to_lower(name), version);
    }
    return texts;
  };
  auto left = packages(before), right = packages(after);
  for (const auto& [name, version] : right) left.try_emplace(name);
  for (const auto& [name, version] : left)
    if (version != right[name]) all.push_back({name, version, right[name], "results may differ"});
}

}  // namespace

std::string text_of_profile(const SiteProfile& profile) {
  Json json = record_json(profile);
  for (const char* key : written_by_people) json[key] = Json::object();
  std::string text = "{";
  for (const auto& [key, value] : json.items()) {
    text += fmt::format("{}\n  {}: ", text.size() == 1 ? "" : ",", dumped(key));
    if (!value.is_array() || value.empty() || !value.front().is_object()) {
      text += dumped(value);
      continue;
    }
    text += "[";
    for (const Json& one : value) text += (text.ends_with('[') ? "\n    " : ",\n    ") + dumped(one);
    text += "\n  ]";
  }
  return text + "\n}\n";
}

SiteProfile parse_profile(std::string_view json, const std::string& origin) try {
  const JsonValue document = parse_json(json, origin, {profile_bytes_max, 16, 16'000'000});
  JsonObject object(document, origin, "a site profile");
  if (object.try_uint("schema") != 1U) object.fail("schema", "must be 1");
  for (const char* key : written_by_people) (void)object.find(key);
  return request_in<SiteProfile>(object);
} catch (const Error& error) {  // of an object in a list the kind is a request's
  Failure failure = error.failure();
  if (failure.kind == FailureKind::usage) failure.kind = FailureKind::invalid;
  throw Error(std::move(failure));
}

std::vector<SiteDifference> differences_of(const SiteProfile& before, const SiteProfile& after) {
  std::vector<SiteDifference> all;
  compare_facts(before, after, all);
  compare_software(before, after, all);
  compare_packages(before, after, all);
  compare_places(before, after, all);
  return all;
}

}  // namespace sabath
