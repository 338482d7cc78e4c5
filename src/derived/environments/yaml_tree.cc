#include "environments/yaml_tree.h"

#include <fmt/format.h>
#include <yaml.h>

#include <new>
#include <set>
#include <utility>

#include "base/text.h"
#include "sabath/path.h"

namespace sabath {
namespace {

class YamlTreeEvent {
 public:
  explicit YamlTreeEvent(const yaml_event_t& event) : event_(event) {}
  ~YamlTreeEvent() { yaml_event_delete(&event_); }
  YamlTreeEvent(const YamlTreeEvent&) = delete;
  YamlTreeEvent& operator=(const YamlTreeEvent&) = delete;
  [[nodiscard]] const yaml_event_t* operator->() const noexcept { return &event_; }
  [[nodiscard]] std::size_t line() const noexcept { return event_.start_mark.line + 1; }
  [[nodiscard]] std::string text() const {
    return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length};
  }

 private:
  yaml_event_t event_;
};

class YamlTreeReader {
 public:
  YamlTreeReader(std::string_view text, std::string_view origin, const JsonLimits& limits)
      : origin_(origin), limits_(limits) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~YamlTreeReader() { yaml_parser_delete(&parser_); }
  YamlTreeReader(const YamlTreeReader&) = delete;
  YamlTreeReader& operator=(const YamlTreeReader&) = delete;

  JsonValue read() {
    (void)next();  // the stream's start
    if (next()->type == YAML_STREAM_END_EVENT) throw_at(origin_, 1, "is empty");
    JsonValue root = value(next(), 0);
    (void)next();  // the document's end
    const YamlTreeEvent end = next();
    if (end->type != YAML_STREAM_END_EVENT) throw_at(origin_, end.line(), "a second document: one is wanted");
    return root;
  }

 private:
  YamlTreeEvent next() {
    yaml_event_t event;
    if (yaml_parser_parse(&parser_, &event) == 0) {
      if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
      throw_at(origin_, parser_.problem_mark.line + 1,
               fmt::format("is no YAML: {}", parser_.problem == nullptr ? "unreadable" : parser_.problem));
    }
    return YamlTreeEvent(event);
  }

  void refuse_marks(const YamlTreeEvent& event, const unsigned char* anchor, const unsigned char* tag) const {
    if (anchor != nullptr) throw_at(origin_, event.line(), "anchors and aliases are not read: write the value itself");
    if (tag != nullptr) throw_at(origin_, event.line(), "tags are not read: a value is text as it is");
  }

  JsonValue value(const YamlTreeEvent& event, unsigned depth) {
    if (++values_ > limits_.values_max)
      throw_at(origin_, event.line(), fmt::format("more than {} values", limits_.values_max));
    if (depth > limits_.depth_max)
      throw_at(origin_, event.line(), fmt::format("nested deeper than {} levels", limits_.depth_max));
    JsonValue read;
    read.line = event.line();
    if (event->type == YAML_SCALAR_EVENT) {
      refuse_marks(event, event->data.scalar.anchor, event->data.scalar.tag);
      std::string text = event.text();
      const bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
      if (!plain || !(text.empty() || text == "~" || text == "null")) read.data = std::move(text);
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
      refuse_marks(event, event->data.sequence_start.anchor, event->data.sequence_start.tag);
      read.data = list(depth);
    } else if (event->type == YAML_MAPPING_START_EVENT) {
      refuse_marks(event, event->data.mapping_start.anchor, event->data.mapping_start.tag);
      read.data = mapping(depth);
    } else {
      throw_at(origin_, event.line(), "anchors and aliases are not read: write the value itself");
    }
    return read;
  }

  JsonValue::Array list(unsigned depth) {
    JsonValue::Array all;
    for (;;) {
      const YamlTreeEvent event = next();
      if (event->type == YAML_SEQUENCE_END_EVENT) return all;
      all.push_back(value(event, depth + 1));
    }
  }

  JsonValue::Object mapping(unsigned depth) {
    JsonValue::Object all;
    std::set<std::string> names;
    for (;;) {
      const YamlTreeEvent key = next();
      if (key->type == YAML_MAPPING_END_EVENT) return all;
      if (key->type != YAML_SCALAR_EVENT) throw_at(origin_, key.line(), "a key must be plain text");
      refuse_marks(key, key->data.scalar.anchor, key->data.scalar.tag);
      std::string name = key.text();
      if (!names.insert(name).second)
        throw_at(origin_, key.line(), fmt::format("\"{}\" appears twice", printable(name)));
      all.push_back({std::move(name), key.line(), value(next(), depth + 1)});
    }
  }

  const std::string_view origin_;
  const JsonLimits& limits_;
  yaml_parser_t parser_{};
  std::size_t values_ = 0;
};

}  // namespace

JsonValue parse_yaml_tree(std::string_view text, std::string_view origin, const JsonLimits& limits) {
  if (text.size() > limits.size_max) throw_at(origin, 1, fmt::format("longer than {}", format_bytes(limits.size_max)));
  return YamlTreeReader(text, origin, limits).read();
}

}  // namespace sabath
