#include <map>
#include <optional>

#include "base/text.h"
#include "software/module_words.h"

namespace sabath {
namespace {

constexpr unsigned lua_depth_max = 8;

bool begins_lua_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Calls whose arguments are texts, and assignments of texts to names, anywhere in the file.
class LuaModule {
 public:
  LuaModule(std::string_view text, std::string_view module) : rest_(text), module_(module) {}

  ModuleText read() {
    while (!rest_.empty()) {
      if (skip_comment() || skip_long_text()) continue;
      if (rest_.front() == '"' || rest_.front() == '\'') {
        (void)take_text();
      } else if (begins_lua_name(rest_.front())) {
        read_statement(take_name());
      } else {
        rest_.remove_prefix(1);
      }
    }
    return std::move(found_);
  }

 private:
  using Text = std::optional<std::string>;  // nullopt: not known without running it

  void skip_blanks() {
    while (!rest_.empty() && (static_cast<unsigned char>(rest_.front()) <= ' ' || skip_comment()))
      if (!rest_.empty() && static_cast<unsigned char>(rest_.front()) <= ' ') rest_.remove_prefix(1);
  }

  bool skip_comment() {
    if (!rest_.starts_with("--")) return false;
    rest_.remove_prefix(2);
    if (!skip_long_text()) rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    return true;
  }

  // [[ ... ]], [=[ ... ]=]
  bool skip_long_text() {
    if (!rest_.starts_with('[')) return false;
    const auto equals = std::min(rest_.find_first_not_of('=', 1), rest_.size());
    if (equals == rest_.size() || rest_[equals] != '[') return false;
    const std::string close = "]" + std::string(equals - 1, '=') + "]";
    const auto end = rest_.find(close, equals);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + close.size());
    return true;
  }

  std::string_view take_name() {
    std::size_t end = 1;
    while (end < rest_.size() && (begins_lua_name(rest_[end]) || is_digit(rest_[end]) || rest_[end] == '.')) ++end;
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return name;
  }

  Text take_text() {
    const char quote = rest_.front();
    std::string text;
    std::size_t at = 1;
    for (; at < rest_.size() && rest_[at] != quote && rest_[at] != '\n'; ++at) {
      if (rest_[at] == '\\' && at + 1 < rest_.size()) ++at;
      text += rest_[at];
    }
    const bool closed = at < rest_.size() && rest_[at] == quote;
    rest_.remove_prefix(std::min(at + 1, rest_.size()));
    return closed ? Text(text) : std::nullopt;
  }

  bool take(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // TEXT .. NAME .. pathJoin(...)
  Text take_expression(unsigned depth) {
    Text whole = take_operand(depth);
    while (true) {
      skip_blanks();
      if (!rest_.starts_with("..")) return whole;
      rest_.remove_prefix(2);
      const Text more = take_operand(depth);
      whole = whole && more && whole->size() + more->size() <= 4096 ? Text(*whole + *more) : std::nullopt;
    }
  }

  Text take_operand(unsigned depth) {
    skip_blanks();
    if (rest_.empty() || depth > lua_depth_max) return std::nullopt;
    if (rest_.front() == '"' || rest_.front() == '\'') return take_text();
    if (!begins_lua_name(rest_.front())) return std::nullopt;
    const std::string_view name = take_name();
    skip_blanks();
    if (!rest_.starts_with('(')) {
      const auto found = values_.find(std::string(name));
      return found == values_.end() ? std::nullopt : found->second;
    }
    return value_of_call(name, take_arguments(depth + 1));
  }

  std::vector<Text> take_arguments(unsigned depth) {
    std::vector<Text> arguments;
    if (!take('(')) return arguments;
    while (!rest_.empty() && arguments.size() < module_values_max) {
      if (take(')')) break;
      arguments.push_back(take_expression(depth));
      skip_blanks();
      if (take(',') || rest_.starts_with(')')) continue;
      arguments.back().reset();  // an expression of another form: not read, up to the end of the call or of the line
      while (!rest_.empty() && rest_.front() != ',' && rest_.front() != ')' && rest_.front() != '\n')
        rest_.remove_prefix(1);
      if (!take(',') && !rest_.starts_with(')')) break;
    }
    return arguments;
  }

  [[nodiscard]] Text value_of_call(std::string_view function, const std::vector<Text>& arguments) const {
    const auto slash = module_.rfind('/');
    const bool versioned = slash != std::string_view::npos;
    if (function == "myModuleFullName") return std::string(module_);
    if (function == "myModuleName") return std::string(module_.substr(0, slash));
    if (function == "myModuleVersion") return std::string(versioned ? module_.substr(slash + 1) : "");
    if (function != "pathJoin") return std::nullopt;
    std::string path;
    for (const Text& part : arguments) {
      if (!part || path.size() + part->size() > 4096) return std::nullopt;
      if (!path.empty() && !path.ends_with('/') && !part->starts_with('/')) path += '/';
      path += path.ends_with('/') && part->starts_with('/') ? part->substr(1) : *part;
    }
    return path;
  }

  void read_statement(std::string_view name) {
    skip_blanks();
    if (rest_.starts_with('=') && !rest_.starts_with("==")) {
      rest_.remove_prefix(1);
      const Text value = take_expression(0);
      if (values_.size() < module_values_max || values_.contains(std::string(name))) values_[std::string(name)] = value;
      return;
    }
    const bool is_call = rest_.starts_with('(') || rest_.starts_with('"') || rest_.starts_with('\'');
    if (!is_call || !is_told(name)) return;
    const auto arguments = rest_.starts_with('(') ? take_arguments(0) : std::vector<Text>{take_text()};
    read_call(name, arguments);
  }

  static bool is_told(std::string_view name) {
    for (const char* one : {"prepend_path", "append_path", "load", "depends_on", "depends_on_any", "prereq",
                            "always_load", "conflict", "family", "whatis", "extensions", "add_property"})
      if (name == one) return true;
    return false;
  }

  void read_call(std::string_view name, const std::vector<Text>& arguments) {
    if (name == "prepend_path" || name == "append_path") {
      if (arguments.size() < 2 || arguments[0] != "MODULEPATH") return;
      add_directory(found_, arguments[1].value_or(""));
      return;
    }
    for (const Text& argument : arguments) {
      if (!argument) continue;
      if (name == "conflict") add_module_value(found_.conflicts, *argument);
      if (name == "family" && is_plain_value(*argument)) found_.family = *argument;
      if (name == "whatis") add_keywords(found_, *argument);
      if (name == "extensions") add_list(found_.provides, *argument);
      if (name == "load" || name == "depends_on" || name == "always_load" ||
          (name == "prereq" && arguments.size() == 1))
        add_module_value(found_.needs, *argument);
    }
  }

  static void add_list(std::vector<std::string>& list, std::string_view text) {
    while (!text.empty()) {
      const auto comma = text.find(',');
      add_module_value(list, trim(text.substr(0, comma)));
      text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    }
  }

  std::string_view rest_, module_;
  ModuleText found_;
  std::map<std::string, Text> values_;
};

}  // namespace

ModuleText read_lua_module(std::string_view text, std::string_view module) {
  return LuaModule(text.substr(0, module_text_max), module).read();
}

}  // namespace sabath
