#include "machine/site.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "base/json_reader.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

bool take_flag(JsonObject& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  if (value == nullptr) return false;
  if (const bool* flag = value->get<bool>()) return *flag;
  object.fail(key, "must be true or false");
}

std::map<std::string, Wrapper> take_wrappers(JsonObject& site, std::string_view key) {
  std::map<std::string, Wrapper> wrappers;
  const auto all = site.try_object(key, fmt::format("\"{}\"", key));
  if (!all) return wrappers;
  for (const JsonMember& member : all->members()) {
    JsonObject object(member.value, site.origin(), fmt::format("\"{}\"", member.key));
    Wrapper wrapper{object.texts("argv"), object.texts("bind"), take_flag(object, "tags_output"),
                    object.texts("digest")};
    object.finish();
    wrappers.emplace(member.key, std::move(wrapper));
  }
  return wrappers;
}

std::map<std::string, std::vector<std::string>> take_modules(JsonObject& site) {
  std::map<std::string, std::vector<std::string>> modules;
  const auto all = site.try_object("modules", "\"modules\"");
  if (!all) return modules;
  for (const JsonMember& member : all->members()) {
    const auto* names = member.value.get<JsonValue::Array>();
    if (names == nullptr) throw_at(site.origin(), member.line, "must be a list of modules, may be empty");
    for (const JsonValue& name : *names)
      modules[member.key].push_back(checked_text(name, site.origin(), "the name of a module"));
    modules.try_emplace(member.key);
  }
  return modules;
}

SiteJobs take_jobs(JsonObject& site) {
  SiteJobs jobs;
  auto all = site.try_object("jobs", "\"jobs\"");
  if (!all) return jobs;
  for (auto& [key, value] : {std::pair("scheduler", &jobs.scheduler), std::pair("partition", &jobs.partition),
                             std::pair("account", &jobs.account), std::pair("node_disk", &jobs.node_disk),
                             std::pair("transfer_partition", &jobs.transfer_partition), std::pair("time", &jobs.time),
                             std::pair("node_cap", &jobs.node_cap), std::pair("memory", &jobs.memory)}) {
    *value = all->try_text(key).value_or("");
  }
  jobs.cores = all->try_uint("cores");
  jobs.gpus = all->try_uint("gpus");
  if (all->find("network") != nullptr) jobs.network = take_flag(*all, "network");
  all->finish();
  return jobs;
}

// Once from left to right: what a value has in braces is text.
std::string filled(std::string_view word, const std::map<std::string_view, std::string>& values) {
  std::string text;
  while (!word.empty()) {
    const auto close = word.starts_with('{') ? word.find('}') : std::string_view::npos;
    const auto found = close == std::string_view::npos ? values.end() : values.find(word.substr(1, close - 1));
    if (found != values.end()) {
      text += found->second;
      word.remove_prefix(close + 1);
    } else {
      text += word.front();
      word.remove_prefix(1);
    }
  }
  return text;
}

}  // namespace

Site parse_site(std::string_view json, const std::string& origin) {
  const JsonValue document = parse_json(json, origin, {64U << 20U, 16, 16'000'000});
  JsonObject object(document, origin, "a site profile");
  if (object.try_uint("schema") != 1U) object.fail("schema", "must be 1");
  Site site;
  site.name = object.text("name");
  (void)object.try_text("description");
  site.hosts = object.texts("hosts");
  site.module_script = object.try_text("module_script").value_or("");
  site.modules = take_modules(object);
  site.launcher = object.try_text("launcher").value_or("");
  site.launchers = take_wrappers(object, "launchers");
  site.containers = take_wrappers(object, "containers");
  site.jobs = take_jobs(object);
  // What `site detect` found: src/site/software/profile.h reads it.
  for (const char* found : {"machine", "disks", "partitions", "interpreters", "software", "passed_over"})
    (void)object.find(found);
  object.finish();
  return site;
}

Site merged(Site base, Site over) {
  over.launchers.merge(base.launchers);
  over.containers.merge(base.containers);
  over.modules.merge(base.modules);
  if (over.launcher.empty()) over.launcher = base.launcher;
  if (over.module_script.empty()) over.module_script = base.module_script;
  return over;
}

bool is_host_of(const Site& site, const std::string& host) {
  for (const std::string& pattern : site.hosts) {
    if (::fnmatch(pattern.c_str(), host.c_str(), 0) == 0) return true;
  }
  return false;
}

std::vector<std::string> modules_for(const Site& site, const std::vector<std::string>& needs) {
  std::vector<std::string> modules;
  for (const std::string& need : needs) {
    auto found = site.modules.find(need);
    if (found == site.modules.end()) found = site.modules.find(need.substr(0, need.find_first_of("/<>=! ")));
    if (found == site.modules.end()) {
      modules.push_back(need);
    } else {
      modules.insert(modules.end(), found->second.begin(), found->second.end());
    }
  }
  return modules;
}

std::vector<std::string> wrap(const Wrapper& wrapper, const WrapperValues& values,
                              const std::vector<std::string>& command) {
  const unsigned each = (values.ranks + values.nodes - 1) / std::max(values.nodes, 1U);
  std::map<std::string_view, std::string> known{{"ranks", fmt::to_string(values.ranks)},
                                                {"nodes", fmt::to_string(values.nodes)},
                                                {"ranks_per_node", fmt::to_string(each)},
                                                {"work", values.work},
                                                {"image", values.image}};
  std::vector<std::string> argv;
  for (const std::string& word : wrapper.argv) {
    if (word != "{binds}") {
      argv.push_back(filled(word, known));
      continue;
    }
    for (const std::string& path : values.binds) {
      known["path"] = path;
      for (const std::string& part : wrapper.bind) argv.push_back(filled(part, known));
    }
  }
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

}  // namespace sabath
