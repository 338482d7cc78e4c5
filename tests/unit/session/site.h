// A user's machine for one test: recipes in a directory, a store, files to serve, and a Session over them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sabath/session.h"
#include "support/temp_dir.h"

namespace sabath::test {

class Warnings : public EventSink {
 public:
  void on(const Event& event) override;
  std::vector<std::string> texts;

 private:
  std::mutex mutex_;
};

class Site {
 public:
  using Json = nlohmann::ordered_json;

  Site();
  // Writes a recipe of schema 1; `more` is laid over what every recipe has.
  void dataset(const std::string& name, const std::vector<Json>& fragments, const Json& more = {});
  void model(const std::string& name, const Json& more);
  // Serves `bytes` as a file: the URL.
  std::string serve(const std::string& name, const std::string& bytes);

  [[nodiscard]] Session open() const { return Session(settings); }
  FetchRecord fetch(const std::function<void(FetchRequest&)>& ask);
  FetchRecord fetch(const char* name) {
    return fetch([&](FetchRequest& request) { request.names = {name}; });
  }
  [[nodiscard]] std::filesystem::path operator/(const std::string& below) const { return directory_ / below; }

  SessionSettings settings;
  Warnings warnings;
  std::stop_source stop;

 private:
  void write_recipe(const std::string& folder, const Json& recipe);
  TempDir directory_;
};

// A view as text: path -> "f:content", "x:content", "d", "l:target".
[[nodiscard]] std::map<std::string, std::string> tree_at(const std::filesystem::path& directory);
[[nodiscard]] nlohmann::ordered_json file_fragment(const std::string& id, const std::string& path,
                                                   const std::vector<std::string>& urls);
// The fragment, and what the recipe says of its bytes.
[[nodiscard]] nlohmann::ordered_json with_checksum(nlohmann::ordered_json fragment, const std::string& bytes);
[[nodiscard]] nlohmann::ordered_json archive_fragment(const std::string& id, const std::vector<std::string>& urls);

}  // namespace sabath::test
