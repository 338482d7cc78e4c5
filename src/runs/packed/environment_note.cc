#include "packed/environment_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_reader.h"
#include "base/split.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t note_entries_max = 100'000, note_word_max = 1000;

std::string note_line(JsonObject& object, std::string_view key) {
  std::string line = object.try_text(key).value_or("");
  const bool control = std::ranges::any_of(line, [](unsigned char c) { return c < ' ' || c == 0x7f; });
  if (control || line.size() > note_word_max) object.fail(key, "must be one short line");
  return line;
}

std::vector<std::string> library_names(JsonObject& object, std::string_view key) {
  std::vector<std::string> names = object.texts(key);
  if (names.size() > note_entries_max) object.fail(key, "has too many entries");
  for (const std::string& name : names) {
    if (name.empty() || name.size() > 255 || name.find_first_of(std::string_view("/\n\0", 3)) != std::string::npos)
      object.fail(key, fmt::format("\"{}\" is no name of a library", printable(name, 300)));
  }
  return names;
}

std::optional<RelativePath> note_path() { return RelativePath::try_parse(environment_note_name); }

}  // namespace

std::string environment_note_text(const EnvironmentNote& note) {
  using Json = nlohmann::ordered_json;
  Json packages = Json::array();
  for (const NotedPackage& each : note.packages) {
    packages.push_back({{"name", each.name}, {"version", each.version}});
    if (!each.build.empty()) packages.back()["build"] = each.build;
  }
  Json text = {{"schema", 1},
               {"kind", "environment"},
               {"made_of", note.made_of},
               {"python", note.python},
               {"implementation", note.implementation},
               {"abi", note.abi},
               {"platform", note.platform},
               {"machine", note.machine},
               {"glibc", note.glibc.empty() ? Json(nullptr) : Json(note.glibc)},
               {"system_libraries", note.system_libraries},
               {"node_libraries", note.node_libraries},
               {"optional_libraries", note.optional_libraries},
               {"needed_by", note.needed_by},
               {"packages", std::move(packages)}};
  if (!note.place.empty()) text["place"] = note.place;
  return text.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

EnvironmentNote parse_environment_note(std::string_view text, const std::string& origin) {
  const JsonValue document = parse_json(text, origin, {.size_max = environment_note_max});
  JsonObject object(document, origin, "an environment's note");
  if (object.text("kind") != "environment") object.fail("kind", "must be \"environment\"");
  if (object.try_uint("schema").value_or(0) != 1)
    object.fail("schema", "is of another version of SABATH", "take a newer SABATH");
  EnvironmentNote note;
  note.made_of = note_line(object, "made_of");
  note.python = note_line(object, "python");
  note.implementation = note_line(object, "implementation");
  note.abi = note_line(object, "abi");
  note.platform = note_line(object, "platform");
  note.machine = note_line(object, "machine");
  note.glibc = note_line(object, "glibc");
  if (!note.glibc.empty() && parts_at(note.glibc, '.').size() < 2) object.fail("glibc", "must be as 2.34");
  note.place = note_line(object, "place");
  note.system_libraries = library_names(object, "system_libraries");
  note.node_libraries = library_names(object, "node_libraries");
  note.optional_libraries = library_names(object, "optional_libraries");
  if (auto needed = object.try_object("needed_by", "what needs each library")) {
    if (needed->members().size() > note_entries_max) object.fail("needed_by", "has too many entries");
    for (const JsonMember& member : needed->members()) note.needed_by[member.key] = note_line(*needed, member.key);
  }
  if (const auto* packages = object.try_array("packages")) {
    if (packages->size() > note_entries_max) object.fail("packages", "has too many entries");
    for (const JsonValue& each : *packages) {
      JsonObject package(each, origin, "a package");
      note.packages.push_back({note_line(package, "name"), note_line(package, "version"), note_line(package, "build")});
    }
  }
  return note;
}

bool has_environment_note(const Manifest& tree) {
  const auto entry = tree.find(*note_path());
  return entry && entry->is_file();
}

std::optional<EnvironmentNote> try_note_in(const Store& store, const Manifest& tree, const std::string& name) {
  const auto entry = tree.find(*note_path());
  if (!entry || !entry->is_file()) return std::nullopt;
  const auto text = store.text_of(entry->digest, environment_note_max);
  if (!text) return std::nullopt;
  return parse_environment_note(*text, fmt::format("{}/{}", name, environment_note_name));
}

}  // namespace sabath
