#include "software/spack.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "software/module_words.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t database_bytes_max = 128U << 20U, spack_packages_max = 100'000, hash_shown = 7;
constexpr const char* of_spack = "Spack's database";

const JsonValue* spack_member(const JsonValue* value, std::string_view key) {
  const auto* object = value == nullptr ? nullptr : value->get<JsonValue::Object>();
  if (object == nullptr) return nullptr;
  const auto found = std::ranges::find(*object, key, &JsonMember::key);
  return found == object->end() ? nullptr : &found->value;
}

std::string spack_text(const JsonValue* value, std::string_view key) {
  const JsonValue* const member = spack_member(value, key);
  const auto* text = member == nullptr ? nullptr : member->get<std::string>();
  return text != nullptr && is_plain_value(*text) ? *text : "";
}

// Variants that are on, and the values of those that are words: "+cuda", "fabrics=ucx".
void add_variants(const JsonValue* parameters, std::vector<std::string>& features) {
  const auto* all = parameters == nullptr ? nullptr : parameters->get<JsonValue::Object>();
  if (all == nullptr) return;
  for (const JsonMember& one : *all) {
    if (const bool* flag = one.value.get<bool>(); flag != nullptr && *flag)
      add_module_value(features, to_lower(one.key));
    if (one.key.find("flags") != std::string::npos) continue;
    if (const auto* words = one.value.get<JsonValue::Array>()) {
      for (const JsonValue& word : *words)
        if (const auto* text = word.get<std::string>(); text != nullptr && *text != "none")
          add_module_value(features, to_lower(*text));
    }
  }
}

}  // namespace

std::vector<SpackPackage> parse_spack_database(std::string_view json) {
  const JsonValue document = parse_json(json, of_spack, {database_bytes_max, 32, 16'000'000});
  const JsonValue* const installs = spack_member(spack_member(&document, "database"), "installs");
  const auto* all = installs == nullptr ? nullptr : installs->get<JsonValue::Object>();
  if (all == nullptr) throw Error(FailureKind::invalid, "Spack's database has no \"installs\"");
  std::vector<SpackPackage> packages;
  for (const JsonMember& one : *all) {
    const JsonValue* const installed = spack_member(&one.value, "installed");
    const JsonValue* const spec = spack_member(&one.value, "spec");
    if (installed == nullptr || installed->get<bool>() == nullptr || !*installed->get<bool>()) continue;
    if (packages.size() >= spack_packages_max)
      throw Error(FailureKind::invalid, "Spack's database has too many packages");
    SpackPackage package;
    package.software.name = spack_text(spec, "name");
    package.software.version = spack_text(spec, "version");
    package.software.known = of_spack;
    package.hash = one.key;
    add_variants(spack_member(spec, "parameters"), package.software.features);
    if (!package.software.name.empty()) packages.push_back(std::move(package));
  }
  return packages;
}

void join_spack(std::vector<SpackPackage> packages, std::vector<Software>& software) {
  std::map<std::string, const SpackPackage*> by_hash;
  for (const SpackPackage& one : packages)
    if (one.hash.size() >= hash_shown) by_hash.emplace(one.hash.substr(0, hash_shown), &one);
  std::map<std::string, bool> has_module;
  for (Software& one : software) {
    if (one.module.size() <= hash_shown || one.module[one.module.size() - hash_shown - 1] != '-') continue;
    const auto found = by_hash.find(one.module.substr(one.module.size() - hash_shown));
    if (found == by_hash.end()) continue;
    const Software& package = found->second->software;
    one.name = package.name;
    one.version = package.version;
    for (const std::string& feature : package.features) add_module_value(one.features, feature);
    one.known += std::string(", and ") + of_spack;
    has_module[found->second->hash] = true;
  }
  for (SpackPackage& one : packages)
    if (!has_module.contains(one.hash)) software.push_back(std::move(one.software));
}

void detect_spack(Programs& programs, SiteProfile& profile) {
  const auto root = programs.environment().get("SPACK_ROOT");
  if (!root) return profile.machine.push_back({"Spack", "none", "SPACK_ROOT is not set"});
  const fs::path file = fs::path(*root) / "opt/spack/.spack-db/index.json";
  if (const auto why = programs.owners().why_not(file)) {
    if (try_stat(file)) programs.pass_over(file.string(), *why);
    return profile.machine.push_back(
        {"Spack", "not asked", fmt::format("{}: {}", printable(file.native(), 1000), *why)});
  }
  try {
    auto packages = parse_spack_database(try_read_text(file, database_bytes_max).value_or(""));
    profile.machine.push_back({"Spack", fmt::format("{} packages", packages.size()), printable(file.native(), 1000)});
    join_spack(std::move(packages), profile.software);
  } catch (const Error& error) {
    profile.machine.push_back({"Spack", "not read", error.failure().message});
  }
}

}  // namespace sabath
