#include "run/yaml_settings.h"

#include <fmt/format.h>
#include <yaml.h>

#include <new>
#include <set>
#include <utility>

#include "base/json_reader.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t text_size_max = 1 << 20, settings_max = 10'000, depth_max = 8, items_max = 1000;

class Event {
 public:
  explicit Event(yaml_event_t event) : event_(event) {}
  ~Event() { yaml_event_delete(&event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  const yaml_event_t* operator->() const { return &event_; }
  [[nodiscard]] std::size_t line() const { return event_.start_mark.line + 1; }

 private:
  yaml_event_t event_;
};

std::string text_of(const Event& scalar) {
  return {reinterpret_cast<const char*>(scalar->data.scalar.value), scalar->data.scalar.length};
}

bool is_null(const Event& scalar) {
  if (scalar->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return false;
  const std::string text = text_of(scalar);
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& origin, YamlLists lists) : origin_(origin), lists_(lists) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Reader() { yaml_parser_delete(&parser_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  std::vector<YamlSetting> read() {
    (void)next();  // the stream's start
    if (next()->type == YAML_STREAM_END_EVENT) return {};
    {
      const Event root = next();
      if (root->type == YAML_MAPPING_START_EVENT) {
        refuse_marks(root, root->data.mapping_start.anchor, root->data.mapping_start.tag);
        read_mapping("", 1);
      } else if (root->type != YAML_SCALAR_EVENT || !is_null(root)) {
        throw_at(origin_, root.line(), "must be a mapping of settings");
      }
    }
    (void)next();  // the document's end
    const Event end = next();
    if (end->type != YAML_STREAM_END_EVENT) throw_at(origin_, end.line(), "a second document: one is wanted");
    return std::move(settings_);
  }

 private:
  Event next() {
    yaml_event_t event;
    if (yaml_parser_parse(&parser_, &event) == 0) {
      if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
      throw_at(origin_, parser_.problem_mark.line + 1,
               fmt::format("is no YAML: {}", parser_.problem == nullptr ? "unreadable" : parser_.problem));
    }
    return Event(event);
  }

  void refuse_marks(const Event& event, const unsigned char* anchor, const unsigned char* tag) const {
    if (anchor != nullptr) throw_at(origin_, event.line(), "anchors and aliases are not read: write the value itself");
    if (tag != nullptr) throw_at(origin_, event.line(), "tags are not read: a value is text as it is");
  }

  void read_mapping(const std::string& prefix, std::size_t depth) {
    while (true) {
      const Event key = next();
      if (key->type == YAML_MAPPING_END_EVENT) return;
      if (key->type != YAML_SCALAR_EVENT) throw_at(origin_, key.line(), "a setting's name must be plain text");
      refuse_marks(key, key->data.scalar.anchor, key->data.scalar.tag);
      const std::string name = prefix + text_of(key);
      if (!names_.insert(name).second)
        throw_at(origin_, key.line(), fmt::format("\"{}\" appears twice", printable(name)));
      if (names_.size() > settings_max) throw_at(origin_, key.line(), "too many settings");
      read_value(name, depth);
    }
  }

  void read_value(const std::string& name, std::size_t depth) {
    const Event value = next();
    if (value->type == YAML_MAPPING_START_EVENT) {
      refuse_marks(value, value->data.mapping_start.anchor, value->data.mapping_start.tag);
      if (depth == depth_max) throw_at(origin_, value.line(), fmt::format("more than {} mappings deep", depth_max));
      read_mapping(name + ".", depth + 1);
    } else if (value->type == YAML_SCALAR_EVENT) {
      refuse_marks(value, value->data.scalar.anchor, value->data.scalar.tag);
      if (!is_null(value)) settings_.push_back({name, text_of(value), value.line(), false, {}});
    } else if (value->type == YAML_SEQUENCE_START_EVENT && lists_ == YamlLists::read) {
      refuse_marks(value, value->data.sequence_start.anchor, value->data.sequence_start.tag);
      read_list(name, value.line());
    } else if (value->type == YAML_ALIAS_EVENT) {
      throw_at(origin_, value.line(), "anchors and aliases are not read: write the value itself");
    } else {
      throw_at(origin_, value.line(), fmt::format("\"{}\" must be text, a number or a truth", printable(name)));
    }
  }

  void read_list(const std::string& name, std::size_t line) {
    YamlSetting setting{name, "", line, true, {}};
    while (true) {
      const Event item = next();
      if (item->type == YAML_SEQUENCE_END_EVENT) break;
      if (item->type != YAML_SCALAR_EVENT)
        throw_at(origin_, item.line(), fmt::format("\"{}\" must be a list of plain values", printable(name)));
      refuse_marks(item, item->data.scalar.anchor, item->data.scalar.tag);
      if (setting.items.size() == items_max) throw_at(origin_, item.line(), "too many values");
      setting.items.push_back(is_null(item) ? "" : text_of(item));
    }
    settings_.push_back(std::move(setting));
  }

  const std::string& origin_;
  const YamlLists lists_;
  yaml_parser_t parser_{};
  std::set<std::string> names_;
  std::vector<YamlSetting> settings_;
};

}  // namespace

std::vector<YamlSetting> read_yaml_settings(std::string_view text, const std::string& origin, YamlLists lists) {
  if (text.size() > text_size_max) throw_at(origin, 1, fmt::format("longer than {} bytes", text_size_max));
  return Reader(text, origin, lists).read();
}

}  // namespace sabath
