#include "site.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/hash.h"
#include "support/seeded.h"

namespace sabath::test {

namespace fs = std::filesystem;

void Warnings::on(const Event& event) {
  const std::lock_guard lock(mutex_);
  if (const auto* warning = std::get_if<event::Warning>(&event)) texts.push_back(warning->text);
}

Site::Site() {
  settings.store = directory_ / "store";
  settings.recipe_directories = {directory_ / "recipes"};
  settings.fetchers.user_agent = "sabath-test";
  settings.fetchers.connect_timeout_ms = 2000;
  settings.fetchers.stall_timeout_ms = 2000;
  fs::create_directories(directory_ / "served");
}

void Site::write_recipe(const std::string& folder, const Json& recipe) {
  fs::create_directories(directory_ / "recipes" / folder);
  write_file(directory_ / "recipes" / folder / (recipe.at("name").get<std::string>() + ".json"), recipe.dump(1));
}

void Site::dataset(const std::string& name, const std::vector<Json>& fragments, const Json& more) {
  Json recipe = {{"schema", 1}, {"kind", "dataset"}, {"name", name}, {"version", "1"}, {"fragments", fragments}};
  if (!more.is_null()) recipe.update(more);
  write_recipe("datasets", recipe);
}

void Site::model(const std::string& name, const Json& more) {
  Json recipe = {{"schema", 1}, {"kind", "model"}, {"name", name}, {"version", "1"}};
  recipe.update(more);
  write_recipe("models", recipe);
}

std::string Site::serve(const std::string& name, const std::string& bytes) {
  const auto path = directory_ / "served" / name;
  fs::create_directories(path.parent_path());
  write_file(path, bytes);
  return "file://" + path.string();
}

FetchRecord Site::fetch(const std::function<void(FetchRequest&)>& ask) {
  FetchRequest request;
  ask(request);
  warnings.texts.clear();
  Session session(settings);
  return session.fetch(request, warnings, stop.get_token());
}

std::map<std::string, std::string> tree_at(const fs::path& directory) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    std::string& text = found[entry.path().lexically_relative(directory).string()];
    if (entry.is_symlink()) {
      text = "l:" + fs::read_symlink(entry.path()).string();
    } else if (entry.is_directory()) {
      text = "d";
    } else {
      std::ifstream file(entry.path(), std::ios::binary);
      std::ostringstream content;
      content << file.rdbuf();
      const bool executable = (entry.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
      text = (executable ? "x:" : "f:") + content.str();
    }
  }
  return found;
}

nlohmann::ordered_json file_fragment(const std::string& id, const std::string& path,
                                     const std::vector<std::string>& urls) {
  return {{"id", id}, {"type", "file"}, {"path", path}, {"urls", urls}};
}

nlohmann::ordered_json with_checksum(nlohmann::ordered_json fragment, const std::string& bytes) {
  fragment["size"] = bytes.size();
  fragment["checksum"] = {{"sha256", sha256(bytes).hex()}};
  return fragment;
}

nlohmann::ordered_json archive_fragment(const std::string& id, const std::vector<std::string>& urls) {
  return {{"id", id}, {"type", "archive"}, {"urls", urls}};
}

}  // namespace sabath::test
