// Croissant 1.1 of MLCommons. Mirrors and arrays have no field there: they stand under sabath:mirror and
// sabath:variable, which its readers pass over. A hash that is not known is left out, never guessed.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "metadata/terms.h"

namespace sabath {
namespace {

using terms::Json;
using terms::put;

Json croissant_context() {
  Json context{{"@language", "en"}, {"@vocab", "https://schema.org/"}};
  for (const char* const term : {"citeAs", "column"}) context[term] = fmt::format("cr:{}", term);
  context["conformsTo"] = "dct:conformsTo";
  context["cr"] = "http://mlcommons.org/croissant/";
  context["data"] = Json{{"@id", "cr:data"}, {"@type", "@json"}};
  context["dataType"] = Json{{"@id", "cr:dataType"}, {"@type", "@vocab"}};
  context["dct"] = "http://purl.org/dc/terms/";
  context["examples"] = Json{{"@id", "cr:examples"}, {"@type", "@json"}};
  for (const char* const term :
       {"extract", "field", "fileObject", "fileProperty", "fileSet", "format", "includes", "isLiveDataset", "jsonPath",
        "key", "md5", "parentField", "path", "recordSet", "references", "regex", "repeated", "replace"})
    context[term] = fmt::format("cr:{}", term);
  context["sabath"] = terms::sabath_namespace;
  context["sc"] = "https://schema.org/";
  for (const char* const term : {"separator", "source", "subField", "transform"})
    context[term] = fmt::format("cr:{}", term);
  return context;
}

void add_fragment(Json& distribution, const Fragment& fragment, const Metadata& data) {
  const std::vector<std::string> urls = terms::places(fragment);
  Json object{{"@type", "cr:FileObject"}, {"@id", fragment.id}, {"name", fragment.id}};
  if (!urls.empty()) object["contentUrl"] = urls.front();
  if (fragment.size_bytes) object["contentSize"] = fmt::format("{} B", *fragment.size_bytes);
  object["encodingFormat"] = terms::media_type(fragment, data);
  if (!fragment.checksum.sha256.empty()) {
    object["sha256"] = fragment.checksum.sha256;
  } else {
    put(object, "md5", fragment.checksum.md5);
  }
  if (urls.size() > 1) object["sabath:mirror"] = std::vector<std::string>(urls.begin() + 1, urls.end());
  if (fragment.path) object["sabath:path"] = fragment.path->text();
  if (fragment.limit) object["sabath:limit"] = *fragment.limit;
  distribution.push_back(std::move(object));
  if (fragment.type == FragmentType::file) return;
  const auto& types = data.format.media_types;
  distribution.push_back(Json{{"@type", "cr:FileSet"},
                              {"@id", fragment.id + ".files"},
                              {"name", fragment.id + ".files"},
                              {"containedIn", terms::reference(fragment.id)},
                              {"encodingFormat", types.empty() ? "application/octet-stream" : types.front()},
                              {"includes", "**"}});
}

Json variables_of(const Metadata& data) {
  Json all = Json::array();
  for (const Variable& variable : data.format.variables) {
    Json node{{"sabath:name", variable.name}};
    put(node, "sabath:dtype", variable.dtype);
    put(node, "sabath:unit", variable.unit);
    if (variable.shape) {
      Json shape = Json::array();
      for (const auto& axis : *variable.shape) shape.push_back(axis ? Json(*axis) : Json("?"));
      node["sabath:shape"] = Json{{"@list", std::move(shape)}};
    }
    all.push_back(std::move(node));
  }
  return all;
}

std::string write_croissant(const DescribedAsset& asset) {
  const Recipe& recipe = asset.recipe;
  const Metadata& data = metadata_of(recipe);
  Json document{{"@context", croissant_context()}, {"@type", "sc:Dataset"}};
  put(document, "@id", terms::identity(recipe));
  document["conformsTo"] = "http://mlcommons.org/croissant/1.1";
  document["name"] = recipe.name;
  put(document, "alternateName", recipe.title);
  document["description"] = terms::summary(recipe);
  put(document, "url", recipe.homepage);
  put(document, "version", recipe.version);
  const std::string licence = terms::licence_url(recipe);
  put(document, "license", licence.empty() ? recipe.licence : licence);
  Json creators = Json::array(), identifiers = Json::array(), distribution = Json::array();
  for (const Party& party : data.creators) creators.push_back(terms::person(party, "sc:"));
  put(document, "creator", std::move(creators));
  put(document, "datePublished", data.published);
  put(document, "keywords", data.keywords);
  if (!recipe.citation.empty()) document["citeAs"] = recipe.citation.front();
  if (!data.doi.empty()) identifiers.push_back(terms::doi_url(data.doi));
  if (!asset.root.empty()) identifiers.push_back(asset.root);
  put(document, "identifier", std::move(identifiers));
  put(document, "sabath:variable", variables_of(data));
  for (const Fragment& fragment : recipe.fragments) add_fragment(distribution, fragment, data);
  put(document, "distribution", std::move(distribution));
  return terms::text_of_document(document);
}

}  // namespace

extern constexpr MetadataFormat croissant_format{"croissant", "MLCommons Croissant 1.1", false, write_croissant};

}  // namespace sabath
