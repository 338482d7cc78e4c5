#include "recipe/croissant.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <span>

#include "base/file.h"
#include "base/glob.h"
#include "base/percent.h"
#include "base/text.h"
#include "recipe/dataset_facts.h"
#include "recipe/fields.h"
#include "recipe/linked_values.h"
#include "recipe/metadata.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t dataset_files_max = 100'000, passed_over_max = 100, unknown_max = 1000;
constexpr std::size_t looked_at_max = 1'000'000;  // names in a directory, for all patterns of a document

// Keys that are used, or that say nothing that a recipe could keep.
constexpr std::string_view dataset_keys[] = {"@context",
                                             "@type",
                                             "@id",
                                             "name",
                                             "alternateName",
                                             "description",
                                             "license",
                                             "url",
                                             "creator",
                                             "author",
                                             "citeAs",
                                             "citation",
                                             "conformsTo",
                                             "datePublished",
                                             "keywords",
                                             "version",
                                             "distribution",
                                             "identifier",
                                             "recordSet",
                                             "variableMeasured",
                                             "sabath:variable",
                                             "isLiveDataset",
                                             "isAccessibleForFree",
                                             "inLanguage",
                                             "dateModified",
                                             "dateCreated"};
constexpr std::string_view file_keys[] = {
    "@type",    "@id",         "name",          "description",  "contentUrl", "contentSize", "encodingFormat",
    "sha256",   "md5",         "sha1",          "sha512",       "sha384",     "sha224",      "containedIn",
    "includes", "sabath:path", "sabath:mirror", "sabath:limit", "fileFormat"};

std::vector<std::string> standards_of(const JsonValue& document) {
  std::vector<std::string> all = texts_of_member(document, "conformsTo");
  for (const JsonValue* each : each_of(member_of(document, "conformsTo")))
    if (const std::string id = text_of_member(*each, "@id"); !id.empty()) all.push_back(id);
  return all;
}

bool speaks_croissant(const JsonValue& document) {
  return std::ranges::any_of(standards_of(document),
                             [](const std::string& each) { return each.find("mlcommons.org/croissant") != each.npos; });
}

class DatasetReader {
 public:
  DatasetReader(const JsonValue& document, const DocumentPlace& place)
      : document_(document), place_(place), origin_(place.origin), croissant_(speaks_croissant(document)) {}
  DocumentRecipe read();

 private:
  void check_version() const;
  void note_context(const JsonValue& root);
  void note_others(const JsonValue& object, std::span<const std::string_view> known);
  void pass_over(std::size_t line, std::string_view what);
  void note_containers();
  void add_file(const JsonValue& object);
  void add_pattern(const JsonValue& object, const std::string& id);
  [[nodiscard]] bool add_repository(const JsonValue& object, const std::string& id);
  [[nodiscard]] Url place(const std::string& text, std::size_t line, Fragment& fragment) const;
  [[nodiscard]] fs::path directory() const { return fs::absolute(fs::path(origin_)).parent_path(); }
  void take_hash(const JsonValue& object, Fragment& fragment, const ChecksumAlgorithm& algorithm);
  void take_size(const JsonValue& object, Fragment& fragment);
  void note_unknown(std::string key, std::string why) {
    if (data_.unknown.size() < unknown_max) data_.unknown.emplace(std::move(key), std::move(why));
  }
  void keep(Fragment fragment, std::size_t line);
  [[nodiscard]] std::string free_id(std::string id);
  void part_equal_paths();

  const JsonValue& document_;
  const DocumentPlace& place_;
  const std::string& origin_;
  const bool croissant_;
  DocumentRecipe out_;
  Recipe& recipe_ = out_.recipe;
  Metadata data_;
  std::size_t looked_at_ = 0;
  std::vector<std::size_t> lines_;
  std::set<std::string, std::less<>> containers_, ids_;  // ids of what others stand in; of fragments
  std::map<std::string, std::size_t> numbers_;           // id -> the last one that made it another
  std::map<std::string, std::string> patterns_;          // container -> what a FileSet takes of it
};

void DatasetReader::pass_over(std::size_t line, std::string_view what) {
  if (out_.passed_over.size() < passed_over_max)
    out_.passed_over.push_back(fmt::format("{}:{}: {}", printable(origin_, 1000), line, printable(what)));
}

void DatasetReader::note_others(const JsonValue& object, std::span<const std::string_view> known) {
  for (const JsonMember& each : *object.get<JsonValue::Object>()) {
    const auto is = [&](std::string_view key) { return means_key(each.key, key); };
    if (std::ranges::none_of(known, is)) pass_over(each.line, each.key);
  }
}

// The terms of the known vocabularies mean what they say; a context from elsewhere could give them another meaning.
void DatasetReader::note_context(const JsonValue& root) {
  for (const JsonValue* each : each_of(member_of(root, "@context"))) {
    const auto* text = each->get<std::string>();
    if (text == nullptr || text->find("//schema.org") != text->npos ||
        text->find("mlcommons.org/croissant") != text->npos)
      continue;
    pass_over(each->line, fmt::format("the context {}, which is not loaded", printable(*text)));
  }
}

void DatasetReader::check_version() const {
  const std::vector<std::string> standards = standards_of(document_);
  const auto is_known = [](const std::string& each) {
    return each == "http://mlcommons.org/croissant/1.0" || each == "http://mlcommons.org/croissant/1.1";
  };
  if (!croissant_ || std::ranges::any_of(standards, is_known)) return;
  throw_at(origin_, document_.line, "the document does not conform to Croissant 1.0 or 1.1",
           "\"conformsTo\" must say http://mlcommons.org/croissant/1.0 or .../1.1");
}

void DatasetReader::note_containers() {
  for (const JsonValue* object : each_of(member_of(document_, "distribution"))) {
    for (const JsonValue* container : each_of(member_of(*object, "containedIn"))) {
      const std::string* plain = container->get<std::string>();
      const std::string id = plain != nullptr ? *plain : text_of_member(*container, "@id");
      containers_.insert(id);
      if (const auto includes = texts_of_member(*object, "includes"); !includes.empty())
        patterns_.emplace(id, includes.front());
    }
  }
}

std::string DatasetReader::free_id(std::string id) {
  if (id.empty()) id = "file";
  if (id.ends_with(".dir")) id += "_";
  std::string free = id;
  for (std::size_t& number = numbers_[id]; ids_.contains(free);)
    free = fmt::format("{}-{}", id.substr(0, 110), number = std::max<std::size_t>(number, 1) + 1);
  ids_.insert(free);
  return free;
}

void DatasetReader::keep(Fragment fragment, std::size_t line) {
  if (recipe_.fragments.size() == dataset_files_max)
    throw_at(origin_, line, fmt::format("the document has more than {} files", dataset_files_max));
  recipe_.fragments.push_back(std::move(fragment));
  lines_.push_back(line);
}

// A dataset of Hugging Face is asked for by its own scheme; of another repository nothing is known.
bool DatasetReader::add_repository(const JsonValue& object, const std::string& id) {
  if (!text_of_member(object, "encodingFormat").starts_with("git+")) return false;
  const std::string text = text_of_member(object, "contentUrl");
  constexpr std::string_view hub = "https://huggingface.co/datasets/";
  const std::size_t tree = text.find("/tree/");
  if (!text.starts_with(hub)) {
    pass_over(object.line, "a git repository");
    return true;
  }
  Fragment fragment;
  fragment.id = free_id(name_out_of(id));
  fragment.type = FragmentType::file_list;
  const auto pattern = patterns_.find(id);
  fragment.urls.push_back(Url::parse(
      fmt::format("hf://datasets/{}{}/{}", text.substr(hub.size(), tree == text.npos ? text.npos : tree - hub.size()),
                  tree == text.npos ? "" : "@" + percent_encode(percent_decode(text.substr(tree + 6))),
                  pattern == patterns_.end() ? "" : pattern->second)));
  keep(std::move(fragment), object.line);
  return true;
}

// A FileSet of no container is a part of the document's own directory: by its pattern where a server lists it.
void DatasetReader::add_pattern(const JsonValue& object, const std::string& id) {
  for (const std::string& pattern : texts_of_member(object, "includes")) {
    const auto path = RelativePath::try_parse(pattern.starts_with("./") ? pattern.substr(2) : pattern);
    if (!path || pattern.find('?') != pattern.npos) {
      throw_at(origin_, object.line,
               fmt::format("\"{}\" is no pattern of paths below the document", printable(pattern)));
    }
    const std::string& text = path->text();
    if (place_.url) {
      Fragment fragment;
      fragment.id = free_id(name_out_of(id));
      fragment.type = FragmentType::file_list;
      const std::size_t slash = text.rfind('/', text.find_first_of("*["));
      if (slash != text.npos) fragment.path = RelativePath::try_parse(text.substr(0, slash));
      std::string encoded;
      for (const char c : text) encoded += c == '*' ? "*" : percent_encode_path(std::string_view(&c, 1));
      fragment.urls.push_back(place_.url->resolve(encoded));
      keep(std::move(fragment), object.line);
      continue;
    }
    std::vector<std::string> found;
    std::error_code error;
    fs::recursive_directory_iterator at(directory(), fs::directory_options::skip_permission_denied, error), end;
    for (std::size_t seen = 0; !error && at != end && seen < dataset_files_max; at.increment(error), ++seen) {
      if (++looked_at_ > looked_at_max)
        throw_at(origin_, object.line, "its patterns take too long to look for: name its files, or fewer patterns");
      const std::string relative = at->path().lexically_relative(directory()).native();
      std::error_code unknown;
      if (at->is_regular_file(unknown) && !at->is_symlink(unknown) && glob_matches(text, relative))
        found.push_back(relative);
    }
    std::ranges::sort(found);
    for (const std::string& each : found) {
      Fragment fragment;
      fragment.id = free_id(name_out_of(each));
      fragment.urls.push_back(place(each, object.line, fragment));
      keep(std::move(fragment), object.line);
    }
    if (found.empty()) pass_over(object.line, fmt::format("\"{}\", which no file here fits", pattern));
  }
}

Url DatasetReader::place(const std::string& text, std::size_t line, Fragment& fragment) const {
  const std::size_t colon = text.find(':');
  const bool has_scheme =
      colon != text.npos && colon > 1 &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.") == colon;
  if (has_scheme) return url_in_document(text, place_, line);
  std::string decoded = text.starts_with("./") ? text.substr(2) : text;
  if (decoded.find('%') != decoded.npos) decoded = percent_decode(decoded);
  const auto path = RelativePath::try_parse(decoded);
  if (!path)
    throw_at(origin_, line, fmt::format("\"{}\" is no path below the directory of the document", printable(text)));
  if (!fragment.path) fragment.path = path;
  if (place_.url) return place_.url->resolve("./" + percent_encode_path(path->text()));
  const fs::path file = (directory() / path->text()).lexically_normal();
  std::error_code loop;
  if (!is_below(fs::weakly_canonical(file, loop), fs::weakly_canonical(directory(), loop)) || loop)
    throw_at(origin_, line,
             fmt::format("\"{}\" leads out of the directory of the document by a symlink", printable(text)));
  return Url::parse("file://" + percent_encode_path(file.native()));
}

void DatasetReader::take_hash(const JsonValue& object, Fragment& fragment, const ChecksumAlgorithm& algorithm) {
  const std::string hex = to_lower(text_of_member(object, algorithm.name));
  if (hex.empty()) return;
  if (algorithm.spells(hex)) {
    fragment.checksum.*algorithm.value = hex;
  } else {
    note_unknown(fmt::format("fragments.{}.{}", fragment.id, algorithm.name),
                 fmt::format("the document has \"{}\", which is no {}", printable(hex), algorithm.name));
  }
}

void DatasetReader::take_size(const JsonValue& object, Fragment& fragment) {
  const JsonValue* found = member_of(object, "contentSize");
  if (found == nullptr) return;
  if (const auto* number = found->get<std::uint64_t>()) {
    fragment.size_bytes = *number;
    return;
  }
  std::string_view text = found->get<std::string>() == nullptr ? "" : trim(*found->get<std::string>());
  const std::string whole(text);
  for (const std::string_view unit : {" bytes", " B", "B"}) {
    if (!text.ends_with(unit)) continue;
    text.remove_suffix(unit.size());
    break;
  }
  if (const auto bytes = try_whole_number(text)) {
    fragment.size_bytes = *bytes;
  } else {
    note_unknown(fmt::format("fragments.{}.size", fragment.id),
                 fmt::format("the document says \"{}\", which is no number of bytes", printable(whole)));
  }
}

void DatasetReader::add_file(const JsonValue& object) {
  note_others(object, file_keys);
  const std::string own = text_of_member(object, "@id"), id = own.empty() ? text_of_member(object, "name") : own;
  if (member_of(object, "containedIn") != nullptr) return;  // it comes with its container
  if (has_type(object, "FileSet")) return add_pattern(object, id);
  if (add_repository(object, id)) return;
  Fragment fragment;
  fragment.id = free_id(name_out_of(id));
  if (const auto path = RelativePath::try_parse(text_of_member(object, "sabath:path"))) fragment.path = path;
  std::vector<std::string> urls = texts_of_member(object, "contentUrl");
  if (urls.empty() && !croissant_) return pass_over(object.line, "a distribution without \"contentUrl\"");
  for (std::string& mirror : texts_of_member(object, "sabath:mirror")) urls.push_back(std::move(mirror));
  for (const std::string& url : urls) fragment.urls.push_back(place(url, object.line, fragment));
  if (fragment.urls.empty()) throw_at(origin_, object.line, "a FileObject has no \"contentUrl\"");
  if (containers_.contains(id)) {
    fragment.type = FragmentType::archive;
    fragment.path = RelativePath::parse(fragment.id);
  } else if (!fragment.path) {
    fragment.path = default_file_path(fragment);
    if (!fragment.path) fragment.path = RelativePath::parse(fragment.id);
  }
  for (const ChecksumAlgorithm& algorithm : checksum_algorithms) take_hash(object, fragment, algorithm);
  take_size(object, fragment);
  keep(std::move(fragment), object.line);
}

// A page does not say where its files stand: those of one name stand below their ids.
void DatasetReader::part_equal_paths() {
  std::map<std::string, std::size_t> times;
  for (const Fragment& each : recipe_.fragments)
    if (each.path) ++times[each.path->text()];
  for (Fragment& each : recipe_.fragments)
    if (each.path && times[each.path->text()] > 1) each.path = RelativePath::parse(each.id) / *each.path;
}

DocumentRecipe DatasetReader::read() {
  check_version();
  out_.standard = croissant_ ? "Croissant" : "schema.org";
  recipe_.origin = origin_;
  read_dataset_facts(document_, origin_, recipe_, data_);
  note_context(document_);
  note_others(document_, dataset_keys);
  note_containers();
  const auto objects = each_of(member_of(document_, "distribution"));
  for (const JsonValue* object : objects) {
    if (object->get<JsonValue::Object>() == nullptr)
      throw_at(origin_, object->line, "an entry of \"distribution\" is no object");
    add_file(*object);
  }
  if (!croissant_) part_equal_paths();
  if (recipe_.fragments.empty() && !croissant_ && !data_.doi.empty()) {
    Fragment fragment;  // the repository knows
    fragment.id = "all";
    fragment.type = FragmentType::file_list;
    fragment.urls.push_back(Url::parse("doi:" + percent_encode_path(data_.doi)));
    keep(std::move(fragment), document_.line);
  }
  if (recipe_.fragments.empty()) recipe_.access = access_by_hand(recipe_.homepage);
  settle_fragments(recipe_.fragments, lines_, origin_);
  recipe_.about = std::make_shared<const Metadata>(std::move(data_));
  return std::move(out_);
}

}  // namespace

Access access_by_hand(const std::string& homepage) {
  return {AccessKind::restricted,
          {homepage.empty() ? "The document that describes it names no file to fetch: ask its creators."
                            : "The document that describes it names no file to fetch: see " + homepage}};
}

Url url_in_document(const std::string& text, const DocumentPlace& place, std::size_t line) {
  const Url url = Url::parse(text);
  if (url.scheme() == "file") throw_at(place.origin, line, "a document may not name a file of this machine");
  if (!place.url || place.url->scheme() == "file") return url;
  constexpr std::string_view open[] = {"https", "http", "ftp", "ftps", "s3", "hf", "zenodo", "doi", "globus"};
  if (url.scheme() != place.url->scheme() && std::ranges::find(open, url.scheme()) == std::end(open))
    throw_at(place.origin, line,
             fmt::format("a document from elsewhere may not name a {}: URL", printable(url.scheme())));
  return url;
}

const JsonValue* find_dataset(const JsonValue& document) {
  if (speaks_croissant(document) || has_type(document, "Dataset")) return &document;
  const JsonValue* graph = member_of(document, "@graph");
  for (const JsonValue* each : each_of(graph != nullptr ? graph : &document))
    if (speaks_croissant(*each) || has_type(*each, "Dataset")) return each;
  return nullptr;
}

bool is_croissant(const JsonValue& document) {
  if (document.get<JsonValue::Object>() != nullptr && member_of(document, "@context") == nullptr) return false;
  return find_dataset(document) != nullptr;
}

DocumentRecipe read_dataset(const JsonValue& document, const DocumentPlace& place) {
  const JsonValue& node = *find_dataset(document);
  try {
    return DatasetReader(node, place).read();
  } catch (const Error& error) {
    if (error.failure().message.starts_with(place.origin)) throw;
    throw_at(place.origin, node.line, error.failure().message, error.failure().hint);  // of a URL
  }
}

}  // namespace sabath
