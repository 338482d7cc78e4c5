#include "metadata/terms.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace sabath::terms {

std::string identity(const Recipe& recipe) {
  const Metadata& data = metadata_of(recipe);
  return !data.id.empty() ? data.id : doi_url(data.doi);
}

std::string doi_url(std::string_view doi) { return doi.empty() ? "" : fmt::format("https://doi.org/{}", doi); }

std::string licence_url(const Recipe& recipe) {
  const std::string& licence = recipe.licence;
  if (licence.empty() || licence.find_first_of(" ():+") != licence.npos || licence.starts_with("LicenseRef-"))
    return "";
  return "https://spdx.org/licenses/" + licence;
}

std::string title(const Recipe& recipe) { return recipe.title.empty() ? recipe.name : recipe.title; }

std::string summary(const Recipe& recipe) {
  if (!recipe.abstract_text.empty()) return recipe.abstract_text;
  return recipe.description.empty() ? title(recipe) : recipe.description;
}

Json person(const Party& party, const std::string& prefix) {
  Json node;
  if (!party.orcid.empty()) node["@id"] = "https://orcid.org/" + party.orcid;
  node["@type"] = prefix + (party.organization ? "Organization" : "Person");
  node[prefix + "name"] = party.shown();
  put(node, prefix + "givenName", party.given());
  put(node, prefix + "familyName", party.family());
  if (!party.affiliation.empty())
    node[prefix + "affiliation"] = {{"@type", prefix + "Organization"}, {prefix + "name", party.affiliation}};
  return node;
}

std::vector<std::string> places(const Fragment& fragment) {
  constexpr std::string_view keys[] = {"sig", "token", "secret", "passw", "credential", "key"};
  std::vector<std::string> all;
  for (const Url& url : fragment.urls) {
    const std::string& text = url.text();
    const std::size_t mark = text.find('?');
    const std::string query = mark == text.npos ? "" : to_lower(text.substr(mark));
    if (std::ranges::none_of(keys, [&](std::string_view key) { return query.find(key) != query.npos; }))
      all.push_back(text);
  }
  return all;
}

std::string media_type(const Fragment& fragment, const Metadata& data) {
  constexpr std::pair<std::string_view, std::string_view> endings[] = {{".tar", "application/x-tar"},
                                                                       {".tgz", "application/gzip"},
                                                                       {".gz", "application/gzip"},
                                                                       {".zip", "application/zip"},
                                                                       {".npz", "application/zip"},
                                                                       {".json", "application/json"},
                                                                       {".csv", "text/csv"},
                                                                       {".txt", "text/plain"},
                                                                       {".yaml", "application/yaml"},
                                                                       {".yml", "application/yaml"},
                                                                       {".h5", "application/x-hdf5"},
                                                                       {".hdf5", "application/x-hdf5"},
                                                                       {".nc", "application/x-netcdf"},
                                                                       {".bz2", "application/x-bzip2"},
                                                                       {".xz", "application/x-xz"},
                                                                       {".zst", "application/zstd"}};
  const std::string name = to_lower(fragment.urls.front().file_name());
  for (const auto& [ending, type] : endings)
    if (name.ends_with(ending)) return std::string(type);
  if (fragment.type == FragmentType::file && data.format.media_types.size() == 1)
    return data.format.media_types.front();
  return fragment.type == FragmentType::file_list ? "text/plain" : "application/octet-stream";
}

std::vector<std::string> bibtex_entries(const Recipe& recipe) {
  std::vector<std::string> entries;
  for (const std::string& citation : recipe.citation)
    if (trim(citation).starts_with("@")) entries.emplace_back(trim(citation));
  return entries;
}

void put(Json& object, const std::string& key, Json value) {
  const auto* text = value.get_ptr<const std::string*>();
  if (!value.empty() && (text == nullptr || !text->empty())) object[key] = std::move(value);
}

Json reference(std::string_view id) { return Json{{"@id", id}}; }

std::string text_of_document(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sabath::terms
