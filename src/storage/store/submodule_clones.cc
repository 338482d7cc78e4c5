#include "store/submodule_clones.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* submodules_note_name = "sabath.submodules";
constexpr std::size_t submodules_note_size_max = 4 * 1024 * 1024;

std::vector<SubmoduleClone> parse(const std::string& text, const fs::path& room) {
  std::vector<SubmoduleClone> clones;
  const Json note = Json::parse(text);
  for (const auto& [path, told] : note.items()) {
    const fs::path clone = room / RelativePath::parse(told.at("clone").get<std::string>()).text();
    if (!try_stat(clone)) continue;
    clones.push_back({RelativePath::parse(path).text(), clone, told.at("commit").get<std::string>(),
                      told.at("origin").get<std::string>()});
  }
  return clones;
}

}  // namespace

void write_submodule_clones(const fs::path& bare, const std::vector<SubmoduleClone>& clones) {
  Json note = Json::object();
  for (const SubmoduleClone& told : clones)
    note[told.path] = {{"clone", told.clone.filename().string()}, {"commit", told.commit}, {"origin", told.origin}};
  write_text_atomically(bare / submodules_note_name, note.dump() + "\n");
}

std::vector<SubmoduleClone> read_submodule_clones(const fs::path& bare) {
  const auto text = try_read_text(bare / submodules_note_name, submodules_note_size_max);
  if (!text) return {};
  try {
    return parse(*text, bare.parent_path());
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace sabath
