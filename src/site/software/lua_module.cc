#include <map>
#include <optional>
#include <set>

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
      if (skip_comment()) continue;
      if (rest_.front() == '"' || rest_.front() == '\'' || rest_.front() == '[') {
        const std::string_view before = rest_;
        if (rest_.front() != '[') {
          (void)take_text();
        } else if (!skip_long_text()) {
          rest_.remove_prefix(1);
        }
        mentions_ += count_words(before.substr(0, before.size() - rest_.size()), "MODULEPATH");
      } else if (begins_lua_name(rest_.front())) {
        read_statement(take_name());
      } else {
        rest_.remove_prefix(1);
      }
    }
    for (const std::string& name : varied_)
      if (used_.contains(name)) found_.unsure = "it sets " + name + " more than once";
    if (mentions_ != 0) found_.unsure = "it has MODULEPATH in a form that is not understood";
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
    const auto joins = [&] { return rest_[end] == '.' && !rest_.substr(end).starts_with(".."); };
    while (end < rest_.size() && (begins_lua_name(rest_[end]) || is_digit(rest_[end]) || joins())) ++end;
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return name;
  }

  Text take_text() {
    const char quote = rest_.front();
    std::string text;
    std::size_t at = 1;
    bool plain = true;
    for (; at < rest_.size() && rest_[at] != quote && rest_[at] != '\n'; ++at) {
      if (rest_[at] == '\\' && at + 1 < rest_.size()) {
        ++at;
        plain = plain && (rest_[at] == '\\' || rest_[at] == '"' || rest_[at] == '\'');  // not the letter itself
      }
      text += rest_[at];
    }
    const bool closed = at < rest_.size() && rest_[at] == quote;
    rest_.remove_prefix(std::min(at + 1, rest_.size()));
    return closed && plain ? Text(text) : std::nullopt;
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
      used_.insert(std::string(name));
      note_name(name);
      const auto found = values_.find(std::string(name));
      return found == values_.end() ? std::nullopt : found->second;
    }
    note_name(name);
    return value_of_call(name, take_arguments(depth + 1));
  }

  std::vector<Text> take_arguments(unsigned depth) {
    std::vector<Text> arguments;
    const bool braced = !take('(');
    if (braced && !take('{')) return arguments;
    const char close = braced ? '}' : ')';
    while (!rest_.empty() && arguments.size() < module_values_max) {
      if (take(close)) break;
      arguments.push_back(take_expression(depth));
      skip_blanks();
      if (take(',') || rest_.starts_with(close)) continue;
      arguments.back().reset();  // an expression of another form: not read, up to the end of the call or of the line
      while (!rest_.empty() && rest_.front() != ',' && rest_.front() != close && rest_.front() != '\n')
        rest_.remove_prefix(1);
      if (!take(',') && !rest_.starts_with(close)) break;
    }
    return arguments;
  }

  [[nodiscard]] Text value_of_call(std::string_view function, const std::vector<Text>& arguments) const {
    const auto slash = module_.rfind('/');
    const bool versioned = slash != std::string_view::npos;
    if (function == "myModuleFullName") return std::string(module_);
    if (function == "myModuleName") return std::string(module_.substr(0, slash));
    if (function == "myModuleVersion") return std::string(versioned ? module_.substr(slash + 1) : "");
    if (const auto range = range_of_call(function, arguments)) return range;
    if (function != "pathJoin") return std::nullopt;
    std::string path;
    for (const Text& part : arguments) {
      if (!part || path.size() + part->size() > 4096) return std::nullopt;
      if (!path.empty() && !path.ends_with('/') && !part->starts_with('/')) path += '/';
      path += path.ends_with('/') && part->starts_with('/') ? part->substr(1) : *part;
    }
    return path;
  }

  // atleast("gcc", "12") is "gcc@12:", as environment-modules writes it; between("gcc", "12", "13") is "gcc@12:<=13",
  // as 13.2 is none of these in Lmod. Ends that do not count are not read.
  static Text range_of_call(std::string_view function, const std::vector<Text>& arguments) {
    const std::size_t ends = function == "latest" ? 0 : function == "between" ? 2 : 1;
    const bool is_range = ends != 1 || function == "atleast";
    if (!is_range || arguments.size() != ends + 1) return std::nullopt;
    for (const Text& one : arguments)
      if (!one || one->find_first_of("@:,<>") != std::string::npos) return std::nullopt;
    if (ends == 0) return arguments[0];
    return *arguments[0] + "@" + *arguments[1] + (ends == 1 ? ":" : ":<=" + *arguments[2]);
  }

  // Words that run other files or programs, or reach a function by another way.
  void note_name(std::string_view name) {
    const std::string_view last = name.substr(name.rfind('.') + 1);
    for (const char* one : {"dofile", "loadfile", "loadstring", "require", "popen", "execute", "capture", "source_sh",
                            "_G", "_ENV", "getfenv", "setfenv"})
      if (last == one || name.starts_with(std::string(one) + ".")) found_.unsure = "it has " + std::string(one);
    for (const char* one : {"prepend_path", "append_path"})
      if (last == one) found_.unsure = "it gives another name to " + std::string(one);
  }

  void assign(std::string_view name, const Text& value) {
    const auto [at, made] = values_.try_emplace(std::string(name), value);
    if (!made && at->second != value) varied_.insert(at->first);
    at->second = value;
    if (values_.size() > module_values_max) found_.unsure = "it sets too many names";
  }

  // Names that a loop, a function or a list of names sets: no text says to what.
  void forget_names() {
    for (skip_blanks(); !rest_.empty() && (begins_lua_name(rest_.front()) || rest_.front() == ','); skip_blanks()) {
      if (take(',')) continue;
      const std::string_view name = take_name();
      if (name == "in") return;
      assign(name, std::nullopt);
      varied_.insert(std::string(name));
    }
  }

  bool read_keyword(std::string_view name) {
    if (name == "for") {
      forget_names();
    } else if (name == "function") {
      skip_blanks();
      if (!rest_.empty() && begins_lua_name(rest_.front())) {
        if (is_told(take_name())) found_.unsure = "it has a function of its own instead of Lmod's";
      }
      if (take('(')) forget_names();
    } else {
      return false;
    }
    return true;
  }

  bool skip_description(std::string_view name) {
    if (name != "help" && name != "whatis") return false;
    const std::string_view before = rest_;
    (void)take('(');
    skip_blanks();
    if (skip_long_text()) return true;
    rest_ = before;
    return false;
  }

  // What stands behind a value may change it: a method, an operator.
  [[nodiscard]] Text take_value_of_name() {
    const Text value = take_expression(0);
    skip_blanks();
    if (rest_.empty()) return value;
    constexpr std::string_view changing = ":[({\"'+-*/%^<>=~&|.";
    const bool is_word = rest_.starts_with("and ") || rest_.starts_with("or ") || rest_.starts_with("or\n");
    return is_word || changing.find(rest_.front()) != std::string_view::npos ? std::nullopt : value;
  }

  bool is_list_of_names() {
    const std::string_view before = rest_;
    bool is_list = false;
    while (take(',')) {
      skip_blanks();
      if (rest_.empty() || !begins_lua_name(rest_.front())) break;
      (void)take_name();
      skip_blanks();
      is_list = rest_.starts_with('=') && !rest_.starts_with("==");
    }
    rest_ = before;
    return is_list;
  }

  void read_statement(std::string_view name) {
    skip_blanks();
    if (read_keyword(name) || skip_description(name)) return;
    if (is_list_of_names()) {
      assign(name, std::nullopt);
      varied_.insert(std::string(name));
      return forget_names();
    }
    if (rest_.starts_with('=') && !rest_.starts_with("==")) {
      rest_.remove_prefix(1);
      if (is_told(name)) found_.unsure = "it has a function of its own instead of Lmod's";
      return assign(name, take_value_of_name());
    }
    const bool is_call = !rest_.empty() && std::string_view("({\"'").find(rest_.front()) != std::string_view::npos;
    if (!is_call || !is_told(name)) return note_name(name);
    const std::string_view before = rest_;
    const bool is_list = rest_.starts_with('(') || rest_.starts_with('{');
    const auto arguments = is_list ? take_arguments(0) : std::vector<Text>{take_text()};
    read_call(name, arguments);
    if (!name.ends_with("_path") && name != "whatis")
      mentions_ += count_words(before.substr(0, before.size() - rest_.size()), "MODULEPATH");
  }

  static bool is_told(std::string_view name) {
    for (const char* one : {"prepend_path", "append_path", "remove_path", "load", "depends_on", "depends_on_any",
                            "prereq", "always_load", "conflict", "family", "whatis", "extensions", "add_property"})
      if (name == one) return true;
    return false;
  }

  void read_call(std::string_view name, const std::vector<Text>& arguments) {
    if (name == "remove_path") return;
    if (name == "prepend_path" || name == "append_path") {
      if (arguments.size() < 2 || !arguments[0]) found_.unsure = "it changes a path whose name is not known";
      if (arguments.size() < 2 || arguments[0] != "MODULEPATH") return;
      if (arguments.size() > 2 && arguments[2] && arguments[2] != ":")
        found_.unsure = "it changes MODULEPATH by another separator";
      add_directories(found_, arguments[1].value_or(""));
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
  std::set<std::string> varied_, used_;  // names that have more than one value; names whose value was asked for
  std::size_t mentions_ = 0;             // of MODULEPATH, where it is not understood
};

}  // namespace

ModuleText read_lua_module(std::string_view text, std::string_view module) {
  ModuleText said = LuaModule(text.substr(0, module_text_max), module).read();
  if (text.size() >= module_text_max) said.unsure = "it is too long";
  return said;
}

}  // namespace sabath
