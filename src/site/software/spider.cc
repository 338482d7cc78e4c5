#include "software/spider.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/json_reader.h"
#include "sabath/error.h"
#include "software/lua_table.h"
#include "software/module_tree.h"
#include "software/module_words.h"

namespace sabath {
namespace {

using Chain = std::vector<std::string>;

constexpr std::size_t modules_max = 100'000, chains_max = 8, chain_depth_max = 6;

const JsonValue* member_of(const JsonValue& value, std::string_view key) {
  const auto* object = value.get<JsonValue::Object>();
  if (object == nullptr) return nullptr;
  const auto found = std::ranges::find(*object, key, &JsonMember::key);
  return found == object->end() ? nullptr : &found->value;
}

std::string text_member(const JsonValue& value, std::string_view key) {
  const JsonValue* const member = member_of(value, key);
  const auto* text = member == nullptr ? nullptr : member->get<std::string>();
  return text != nullptr && is_plain_value(*text) ? *text : "";
}

std::vector<std::string> texts_in(const JsonValue* list) {
  std::vector<std::string> texts;
  const auto* array = list == nullptr ? nullptr : list->get<JsonValue::Array>();
  if (array == nullptr) return texts;
  for (const JsonValue& one : *array) {
    if (const auto* text = one.get<std::string>()) add_module_value(texts, *text);
  }
  return texts;
}

std::vector<Chain> chains_in(const JsonValue& module) {
  std::vector<Chain> chains;
  const JsonValue* const parents = member_of(module, "parentAA");
  const auto* array = parents == nullptr ? nullptr : parents->get<JsonValue::Array>();
  if (array != nullptr) {
    for (const JsonValue& one : *array) {
      if (chains.size() < chains_max) chains.push_back(texts_in(&one));
    }
  }
  if (chains.empty()) chains.emplace_back();
  return chains;
}

void add_spider_module(const std::string& file, const JsonValue& module, std::vector<SpiderModule>& all) {
  const std::string full = text_member(module, "fullName");
  const JsonValue* const hidden = member_of(module, "hidden");
  if (full.empty() || (hidden != nullptr && hidden->get<bool>() != nullptr && *hidden->get<bool>())) return;
  ModuleText said;
  if (const JsonValue* const whatis = member_of(module, "whatis");
      whatis != nullptr && whatis->get<JsonValue::Array>()) {
    for (const JsonValue& line : *whatis->get<JsonValue::Array>()) {
      if (const auto* text = line.get<std::string>()) add_keywords(said, *text);
    }
  }
  for (Chain& chain : chains_in(module)) {
    if (all.size() >= modules_max) throw Error(FailureKind::invalid, "Lmod names too many modules");
    SpiderModule one{software_of_module(full, std::move(chain)), file};
    one.software.family = text_member(module, "family");
    one.software.provides = texts_in(member_of(module, "provides"));
    one.software.features = said.features;
    add_features(one.software);
    all.push_back(std::move(one));
  }
}

// The chains of modules that lead to each directory, by the table of those that add it.
class CacheChains {
 public:
  CacheChains(const LuaValue* added, const std::vector<std::string>& module_path)
      : roots_(module_path.begin(), module_path.end()) {
    if (added == nullptr) return;
    for (const auto& [directory, parents] : added->members) added_.try_emplace(directory, &parents);
  }

  const std::vector<Chain>& of(const std::string& directory, std::size_t depth = 0) {
    const auto [at, made] = known_.try_emplace(directory);
    if (!made || depth > chain_depth_max) return at->second;
    std::vector<Chain> found;
    if (roots_.contains(directory)) found.emplace_back();
    const auto parents = added_.find(directory);
    if (parents == added_.end()) return known_[directory] = std::move(found);
    for (const auto& [module, where] : parents->second->members) {
      for (Chain chain : std::vector<Chain>(of(where.text, depth + 1))) {
        chain.push_back(module);
        if (found.size() < chains_max && is_plain_value(module)) found.push_back(std::move(chain));
      }
    }
    return known_[directory] = std::move(found);
  }

 private:
  std::map<std::string_view, const LuaValue*> added_;  // a search through the list for each would be quadratic
  std::set<std::string> roots_;
  std::map<std::string, std::vector<Chain>> known_;
};

void add_cached(const std::string& full, const LuaValue& module, const std::vector<Chain>& chains,
                std::vector<SpiderModule>& all) {
  const auto text = [&](std::string_view key) {
    const LuaValue* const value = module.find(key);
    return value != nullptr && is_plain_value(value->text) ? value->text : std::string();
  };
  ModuleText said;
  std::vector<std::string> provides;
  if (const LuaValue* const whatis = module.find("whatis"))
    for (const auto& [key, line] : whatis->members) add_keywords(said, line.text);
  if (const LuaValue* const list = module.find("provides"))
    for (const auto& [key, one] : list->members) add_module_value(provides, one.text);
  for (const Chain& chain : chains) {
    if (all.size() >= modules_max) throw Error(FailureKind::invalid, "Lmod's cache names too many modules");
    SpiderModule one{software_of_module(full, chain), text("fn")};
    one.software.family = text("family");
    one.software.provides = provides;
    one.software.features = said.features;
    add_features(one.software);
    all.push_back(std::move(one));
  }
}

// Files of a name may be in folders of the table `dirT`, to any depth.
void add_cached_files(const LuaValue& folder, const std::vector<Chain>& chains, unsigned depth,
                      std::vector<SpiderModule>& all) {
  if (const LuaValue* const files = folder.find("fileT")) {
    for (const auto& [full, module] : files->members)
      if (is_plain_value(full)) add_cached(full, module, chains, all);
  }
  const LuaValue* const folders = folder.find("dirT");
  if (folders == nullptr || depth > 8) return;
  for (const auto& [name, inner] : folders->members) add_cached_files(inner, chains, depth + 1, all);
}

}  // namespace

std::vector<SpiderModule> parse_spider_json(std::string_view answer) {
  while (answer.ends_with('\n')) answer.remove_suffix(1);
  if (const auto last = answer.rfind("\n{"); last != std::string_view::npos) answer.remove_prefix(last + 1);
  const JsonValue document = parse_json(answer, "Lmod's answer", {spider_bytes_max, 16, 2'000'000});
  const auto* names = document.get<JsonValue::Object>();
  // A table of Lua without members is a list, too.
  if (names == nullptr && document.get<JsonValue::Array>() == nullptr)
    throw Error(FailureKind::invalid, "Lmod's answer is no object");
  std::vector<SpiderModule> all;
  for (const JsonMember& name : names == nullptr ? JsonValue::Object() : *names) {
    const auto* files = name.value.get<JsonValue::Object>();
    if (files == nullptr) continue;
    for (const JsonMember& file : *files) add_spider_module(file.key, file.value, all);
  }
  return all;
}

std::vector<SpiderModule> parse_spider_cache(std::string_view lua, const std::vector<std::string>& module_path) {
  const auto tables = parse_lua_tables(lua, "Lmod's cache");
  const auto spider = tables.find("spiderT"), added = tables.find("mpathMapT");
  if (spider == tables.end()) throw Error(FailureKind::invalid, "Lmod's cache has no spiderT");
  CacheChains chains(added == tables.end() ? nullptr : &added->second, module_path);
  std::vector<SpiderModule> all;
  for (const auto& [directory, names] : spider->second.members) {
    const std::vector<Chain> leading = chains.of(directory);
    if (leading.empty()) continue;  // nothing of MODULEPATH leads there
    for (const auto& [name, folder] : names.members) add_cached_files(folder, leading, 0, all);
  }
  return all;
}

std::vector<Software> joined(std::vector<SpiderModule> asked, const std::vector<Software>& files,
                             std::string_view known) {
  std::multimap<std::string_view, const Software*> by_module;
  for (const Software& one : files) by_module.emplace(one.module, &one);
  std::vector<Software> all;
  for (SpiderModule& module : asked) {
    Software& one = module.software;
    one.known = known;
    const auto [first, last] = by_module.equal_range(one.module);
    for (auto at = first; at != last; ++at) {
      const Software& file = *at->second;
      if (file.chain != one.chain) continue;
      one.needs = file.needs;
      one.opens_first = file.opens_first;
      one.conflicts = file.conflicts;
      for (const std::string& feature : file.features) add_module_value(one.features, feature);
      one.known = std::string(known) + ", and its modulefile";
      break;
    }
    all.push_back(std::move(one));
  }
  // Lmod's tables have no order.
  std::ranges::stable_sort(all, [](const Software& a, const Software& b) {
    return std::tie(a.module, a.chain) < std::tie(b.module, b.chain);
  });
  return all;
}

}  // namespace sabath
