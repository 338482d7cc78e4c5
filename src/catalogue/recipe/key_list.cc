// The key lists of the papers on HPCFAIR: listings 1 to 3 of a data set, a model and an experiment.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/text.h"
#include "recipe/croissant.h"
#include "recipe/document_readers.h"
#include "recipe/linked_values.h"
#include "recipe/metadata.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr unsigned key_list_depth_max = 16;
constexpr std::size_t key_list_values_max = 100'000;

class KeyListParser {
 public:
  KeyListParser(std::string_view text, std::string_view origin) : rest_(text), origin_(origin) {}

  JsonValue read() {
    const bool braced = took('{');
    JsonValue value{JsonValue::Object(), line_};
    read_pairs(std::get<JsonValue::Object>(value.data), braced ? '}' : '\0', 0);
    skip_blanks();
    if (!rest_.empty()) fail("something follows the end");
    return value;
  }

 private:
  [[noreturn]] void fail(std::string_view why) const { throw_at(origin_, line_, why); }

  void skip_blanks() {
    while (!rest_.empty() && std::string_view(" \t\r\n").find(rest_.front()) != std::string_view::npos) {
      if (rest_.front() == '\n') ++line_;
      rest_.remove_prefix(1);
    }
  }
  bool took(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // A text that was broken over lines to fit a page goes on without the break and what indents the next line.
  std::string read_text() {
    if (!took('"')) fail("a text in quotes is missing");
    std::string text;
    for (;;) {
      if (rest_.empty()) fail("a text has no end");
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') break;
      if (c == '\n') {
        skip_line_break();
      } else if (c == '\\' && !rest_.empty() && (rest_.front() == '"' || rest_.front() == '\\')) {
        text += rest_.front();
        rest_.remove_prefix(1);
      } else {
        text += c;
      }
    }
    if (!is_utf8(text)) fail("a text is no UTF-8");
    return clean_text(std::move(text), false);
  }
  void skip_line_break() {
    ++line_;
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }

  void read_pairs(JsonValue::Object& pairs, char end, unsigned depth) {
    for (;;) {
      while (took(',')) {}
      skip_blanks();
      if (rest_.empty() && end == '\0') return;
      if (end != '\0' && took(end)) return;
      const std::size_t line = line_;
      std::string key = read_text();
      if (!took(':')) fail(fmt::format("\"{}\" has no value", printable(key)));
      add_pair(pairs, std::move(key), line, read_value(depth + 1));
    }
  }

  void add_pair(JsonValue::Object& pairs, std::string key, std::size_t line, JsonValue value) {
    const auto same = [&](const JsonMember& each) { return each.key == key; };
    if (std::ranges::any_of(pairs, same)) fail(fmt::format("\"{}\" appears twice", printable(key)));
    if (pairs.size() == 1000) fail("more than 1,000 keys");
    pairs.push_back({std::move(key), line, std::move(value)});
  }

  // NOLINTNEXTLINE(misc-no-recursion): key_list_depth_max bounds it
  JsonValue read_value(unsigned depth) {
    if (depth > key_list_depth_max) fail("it is nested too deep");
    if (++values_ > key_list_values_max) fail("it has too many values");
    skip_blanks();
    JsonValue value{{}, line_};
    if (took('{')) {
      JsonValue::Object pairs;
      read_pairs(pairs, '}', depth);
      value.data = std::move(pairs);
    } else if (took('[')) {
      read_list(value, depth);
    } else if (rest_.starts_with('"')) {
      value.data = read_text();
    } else {
      read_word(value);
    }
    return value;
  }

  // A list of values; or of pairs, which then is an object.
  void read_list(JsonValue& value, unsigned depth) {
    JsonValue::Array values;
    JsonValue::Object pairs;
    for (;;) {
      while (took(',')) {}
      if (took(']')) break;
      const std::size_t line = line_;
      JsonValue one = read_value(depth + 1);
      if (!took(':')) {
        values.push_back(std::move(one));
        continue;
      }
      const auto* key = one.get<std::string>();
      if (key == nullptr) fail("a key is no text");
      add_pair(pairs, *key, line, read_value(depth + 1));
    }
    if (!pairs.empty() && !values.empty()) fail("a list has both pairs and values");
    if (pairs.empty()) {
      value.data = std::move(values);
    } else {
      value.data = std::move(pairs);
    }
  }

  void read_word(JsonValue& value) {
    const std::size_t end = std::min(rest_.find_first_of(" \t\r\n,:]}[{\""), rest_.size());
    const std::string word(rest_.substr(0, end));
    rest_.remove_prefix(end);
    double number = 0;
    const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (word == "true" || word == "false") {
      value.data = word == "true";
    } else if (const auto whole = try_whole_number(word)) {
      value.data = *whole;
    } else if (error == std::errc() && last == word.data() + word.size() && !word.empty()) {
      value.data = JsonNumber{number, word};
    } else if (word != "null") {
      fail(fmt::format("\"{}\" is no value", printable(word)));
    }
  }

  std::string_view rest_, origin_;
  std::size_t line_ = 1, values_ = 0;
};

// A scalar as text; nullopt: it is none.
std::optional<std::string> scalar_text(const JsonValue& value) {
  if (const auto* text = value.get<std::string>()) return clean_text(*text, false);
  if (const auto* whole = value.get<std::uint64_t>()) return fmt::to_string(*whole);
  if (const auto* number = value.get<JsonNumber>()) return number->text;
  if (const auto* flag = value.get<bool>()) return *flag ? "true" : "false";
  return std::nullopt;
}

// One text, or a list of them; "a, b" is two where `parted`.
std::vector<std::string> texts_in(const JsonValue& value, bool parted = false) {
  std::vector<std::string> all;
  for (const JsonValue* each : each_of(&value)) {
    std::string text = scalar_text(*each).value_or("");
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = parted ? std::min(rest.find(','), rest.size()) : rest.size();
      if (const auto one = trim(rest.substr(0, end)); !one.empty() && all.size() < 1000) all.emplace_back(one);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return all;
}

// Keys and scalars; what lies deeper stands behind a dot.
// NOLINTNEXTLINE(misc-no-recursion): the parser bounds the depth
void facts_in(const JsonValue& value, const std::string& prefix, std::map<std::string, std::string>& facts) {
  const auto* object = value.get<JsonValue::Object>();
  if (object == nullptr) return;
  for (const JsonMember& each : *object) {
    if (each.key.starts_with('@')) continue;  // JSON-LD's own
    const std::string key = prefix + each.key;
    if (each.value.get<JsonValue::Object>() != nullptr) {
      facts_in(each.value, key + ".", facts);
    } else if (auto text = scalar_text(each.value); text && facts.size() < 1000) {
      facts.emplace(clean_text(key, false), std::move(*text));
    }
  }
}

std::optional<bool> truth_of(const JsonValue& value) {
  const std::string text = to_lower(scalar_text(value).value_or(""));
  if (text == "true" || text == "yes") return true;
  if (text == "false" || text == "no") return false;
  return std::nullopt;
}

class KeyListReader {
 public:
  KeyListReader(const JsonValue::Object& keys, const DocumentPlace& place) : keys_(keys), place_(place) {}

  DocumentRecipe read() {
    out_.standard = "HPCFAIR";
    recipe_.origin = place_.origin;
    recipe_.kind = kind();
    for (const JsonMember& each : keys_) {
      std::string_view key = each.key;
      key.remove_prefix(std::min(key.find_first_not_of('@'), key.size()));
      if (key.starts_with("hpc:")) key.remove_prefix(4);
      if (take_head(key, each.value) || take_model(key, each.value) || take_experiment(key, each.value)) continue;
      pass_over(each.line, each.key);
    }
    if (data_.tags.contains("License")) recipe_.licence = licence_out_of(data_.tags.at("License"));
    if (data_.tags.contains("Version") && is_name(data_.tags.at("Version"))) recipe_.version = data_.tags.at("Version");
    recipe_.name = name_out_of(recipe_.title);
    if (recipe_.name.empty()) recipe_.name = name_out_of(data_.id.substr(data_.id.find_last_of("/:#") + 1));
    if (recipe_.name.empty())
      throw_at(place_.origin, 1, "it has neither a title nor an id of which a name could be made");
    recipe_.access = access_by_hand(recipe_.homepage);
    recipe_.about = std::make_shared<const Metadata>(std::move(data_));
    return std::move(out_);
  }

 private:
  void pass_over(std::size_t line, std::string_view what) {
    if (out_.passed_over.size() < 100)
      out_.passed_over.push_back(fmt::format("{}:{}: {}", printable(place_.origin, 1000), line, printable(what)));
  }

  [[nodiscard]] bool has(std::string_view key) const {
    return std::ranges::any_of(keys_, [&](const JsonMember& each) { return each.key == key; });
  }
  [[nodiscard]] AssetKind kind() const {
    if (has("hpc:associatedWorkflow") || has("hpc:sysConfig") || has("hpc:reqSoftwares")) return AssetKind::workflow;
    const bool model = has("hpc:modelFormat") || has("hpc:modelType") || has("hpc:machineLearningFramework");
    return model ? AssetKind::model : AssetKind::dataset;
  }

  // A URI or a name stays; what is neither would be no reference.
  void relate(const char* relation, const JsonValue& value, std::size_t line) {
    for (const std::string& text : texts_in(value)) {
      if (is_uri(text) || is_name(text)) {
        if (data_.related.size() < 1000) data_.related.push_back({relation, text});
      } else {
        pass_over(line, text);
      }
    }
  }

  bool take_head(std::string_view key, const JsonValue& value) {
    const std::string text = scalar_text(value).value_or("");
    if (key == "id") {
      if (is_uri(text)) data_.id = text;
    } else if (key == "title" || key == "name") {
      recipe_.title = text;
    } else if (key == "description") {
      recipe_.description = text;
    } else if (key == "url") {
      if (const auto url = Url::try_parse(text)) recipe_.homepage = url->text();
    } else if (key == "submitter") {
      if (!text.empty()) data_.submitter = Party{text, false, "", ""};
    } else if (key == "tags") {
      facts_in(value, "", data_.tags);
    } else if (key == "citation") {
      recipe_.citation = texts_in(value);
    } else if (key == "associatedFiles") {
      relate("HasPart", value, value.line);
    } else if (key == "associatedExpt") {
      relate("IsReferencedBy", value, value.line);
    } else {
      return key == "context" || key == "type";
    }
    return true;
  }

  bool take_model(std::string_view key, const JsonValue& value) {
    if (recipe_.kind != AssetKind::model) return false;
    ModelFacts& model = data_.model;
    const std::string text = scalar_text(value).value_or("");
    if (key == "modelFormat") {
      model.format = text;
    } else if (key == "isTunable") {
      model.tunable = truth_of(value);
    } else if (key == "hyperParams") {
      facts_in(value, "", model.hyper_parameters);
      if (!text.empty()) model.hyper_parameters["value"] = text;
    } else if (key == "machineLearningFramework") {
      model.framework = text;
    } else if (key == "modelType") {
      model.type = text;
    } else if (key == "acceleratorSupport" || key == "supportsAccelerator") {
      const auto truth = truth_of(value);
      if (truth && !*truth) model.accelerators = {"none"};
      if (truth && *truth) data_.tags["acceleratorSupport"] = "true";  // which ones, it does not say
      if (!truth) model.accelerators = texts_in(value, true);
    } else if (key == "metrics") {
      model.metrics = texts_in(value, true);
    } else {
      return false;
    }
    return true;
  }

  bool take_experiment(std::string_view key, const JsonValue& value) {
    if (recipe_.kind != AssetKind::workflow) return false;
    ExperimentFacts& experiment = data_.experiment;
    const auto references = [&](std::vector<std::string>& into) {
      for (std::string& text : texts_in(value)) {
        if (is_uri(text) || is_name(text)) {
          into.push_back(std::move(text));
        } else {
          pass_over(value.line, text);
        }
      }
    };
    if (key == "associatedWorkflow") {
      const std::string text = scalar_text(value).value_or("");
      if (is_uri(text) || is_name(text)) experiment.workflow = text;
    } else if (key == "reqSoftwares") {
      experiment.software = texts_in(value);
    } else if (key == "reqHardware") {
      experiment.hardware = texts_in(value);
    } else if (key == "sysConfig") {
      facts_in(value, "", experiment.system);
    } else if (key == "associatedDataset") {
      references(experiment.datasets);
    } else if (key == "associatedModel") {
      references(experiment.models);
    } else {
      return false;
    }
    return true;
  }

  const JsonValue::Object& keys_;
  const DocumentPlace& place_;
  DocumentRecipe out_;
  Recipe& recipe_ = out_.recipe;
  Metadata data_;
};

}  // namespace

bool is_key_list(std::string_view text) {
  const std::string_view front = trim(text);
  if (front.empty() || (front.front() != '{' && front.front() != '"')) return false;
  return text.find("\"hpc:") != text.npos && text.find("\"schema\"") == text.npos;
}

bool has_paper_keys(const JsonValue& document) {
  const auto* object = document.get<JsonValue::Object>();
  const auto is = [](const JsonMember& each) { return each.key.starts_with("hpc:"); };
  const auto is_schema = [](const JsonMember& each) { return each.key == "schema"; };
  return object != nullptr && std::ranges::any_of(*object, is) && std::ranges::none_of(*object, is_schema);
}

JsonValue parse_key_list(std::string_view text, std::string_view origin) { return KeyListParser(text, origin).read(); }

DocumentRecipe read_key_list(const JsonValue& document, const DocumentPlace& place) {
  return KeyListReader(*document.get<JsonValue::Object>(), place).read();
}

}  // namespace sabath
