#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "software/module_words.h"

namespace sabath {
namespace {

bool is_tcl_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Line by line: the first word is a command, the others are constants or $NAME that an earlier `set` made.
class TclModule {
 public:
  explicit TclModule(std::string_view text) : text_(text) {}

  ModuleText read() {
    while (!text_.empty()) {
      std::string line = take_line();
      const auto words = words_of_line(line);
      if (words.empty()) continue;
      const bool is_shown = words[0] == "puts" || words[0] == "module-whatis";
      if (!is_shown || line.find('[') != std::string::npos) plain_ += line + '\n';
      if (words[0]) read_command(*words[0], words);
      if (!words[0]) found_.unsure = "it has a command whose name is not known";
    }
    find_what_is_unsure();
    return std::move(found_);
  }

 private:
  using Word = std::optional<std::string>;  // nullopt: not known without running it

  // Commands in blocks of one line, in brackets and behind a ';' are not read: it is counted what they could be.
  void find_what_is_unsure() {
    for (const char* one :
         {"source", "exec", "eval", "open", "uplevel", "interp", "rename", "package", "subst", "namespace", "apply"})
      if (count_words(plain_, one) != 0) found_.unsure = "it has " + std::string(one);
    if (count_words(plain_, "MODULEPATH") > understood_ || count_words(plain_, "use") > used_)
      found_.unsure = "it changes MODULEPATH in a form that is not understood";
    for (const std::string& name : read_names_) {  // each other command that sets it has its name without a '$'
      std::size_t bare = count_words(plain_, name);
      for (const std::string& asked : {"$" + name, "${" + name + "}"}) {
        for (auto at = plain_.find(asked); at != std::string::npos; at = plain_.find(asked, at + asked.size()))
          bare -= count_words(std::string_view(plain_).substr(at, asked.size() + 1), name);
      }
      if (bare > 1) found_.unsure = "it may set " + name + " more than once";
    }
  }

  // With its continuations; of a block `if {...} {` the lines inside come one by one.
  std::string take_line() {
    std::string line;
    while (!text_.empty()) {
      const auto end = std::min(text_.find('\n'), text_.size());
      std::string_view part = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      const bool goes_on = part.ends_with('\\');
      if (goes_on) part.remove_suffix(1);
      line += part;
      line += ' ';
      if (!goes_on || line.size() > 65536) break;
    }
    return line;
  }

  std::vector<Word> words_of_line(std::string_view line) const {
    std::vector<Word> words;
    while (words.size() < module_values_max) {
      line = trim(line);
      if (line.empty() || line.front() == ';' || (line.front() == '#' && words.empty())) return words;
      if (line.front() == '}' && words.empty()) {
        line.remove_prefix(1);
        continue;
      }
      words.push_back(take_word(line));
    }
    return words;
  }

  Word take_word(std::string_view& line) const {
    if (line.front() == '{') {  // as it is; one that does not end here opens a block
      const auto end = line.find('}');
      const bool whole = end != std::string_view::npos && line.substr(1, end - 1).find('{') == std::string_view::npos;
      const Word word = whole ? Word(line.substr(1, end - 1)) : std::nullopt;
      line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
      return word;
    }
    if (line.front() == '"') {
      const auto end = std::min(line.find('"', 1), line.size());
      const auto word = substituted(line.substr(1, end - 1));
      line.remove_prefix(std::min(end + 1, line.size()));
      return word;
    }
    const auto end = line.front() == '[' ? std::min(line.find(']'), line.size() - 1) + 1
                                         : std::min(line.find_first_of(" \t"), line.size());
    const auto word = substituted(line.substr(0, end));
    line.remove_prefix(end);
    return word;
  }

  Word substituted(std::string_view text) const {
    std::string whole;
    if (text.find('\\') != std::string_view::npos) return std::nullopt;
    while (!text.empty()) {
      const auto dollar = std::min(text.find_first_of("$["), text.size());
      whole += text.substr(0, dollar);
      text.remove_prefix(dollar);
      if (text.empty()) break;
      if (text.front() == '[') return std::nullopt;  // a command's value
      text.remove_prefix(1);
      const bool braced = text.starts_with('{');
      if (braced) text.remove_prefix(1);
      std::size_t end = 0;
      while (end < text.size() && (is_digit(text[end]) || is_tcl_letter(text[end]) || text[end] == '_')) ++end;
      const auto found = values_.find(std::string(text.substr(0, end)));
      if (found != values_.end()) read_names_.insert(found->first);
      text.remove_prefix(std::min(end + (braced ? 1 : 0), text.size()));
      if (found == values_.end() || text.starts_with('(') || whole.size() + found->second.size() > 4096)
        return std::nullopt;  // $env(HOME), too
      whole += found->second;
    }
    return whole;
  }

  void read_command(const std::string& command, const std::vector<Word>& words) {
    if (command == "set" && words.size() > 1 && !words[1]) found_.unsure = "it sets a name that is not known";
    if (command == "proc" && (words.size() < 2 || !words[1] || !words[1]->starts_with("Modules")))
      found_.unsure = "it has proc";
    if (command == "module-virtual") {
      for (std::size_t at = 2; at < words.size(); ++at) found_.files.push_back(words[at].value_or(""));
    } else if (command == "set" && words.size() == 3 && words[1]) {
      if (!words[2]) {
        values_.erase(*words[1]);
      } else if (values_.size() < module_values_max || values_.contains(*words[1])) {
        values_[*words[1]] = *words[2];
      }
    } else if (command == "prepend-path" || command == "append-path" || command == "remove-path") {
      read_path(words);
    } else if (command == "module" && words.size() > 2 && words[1]) {
      read_module_command(*words[1], words);
    } else if (command == "module-whatis" && words.size() > 1) {
      add_keywords(found_, words.back().value_or(""));
    } else if (command == "family" && words.size() > 1 && words[1] && is_plain_value(*words[1])) {
      found_.family = *words[1];
    } else if (command == "conflict") {
      add_words(found_.conflicts, words, 1);
    } else if (command == "depends-on" || command == "always-load" || command == "prereq-all" ||
               (command == "prereq" && words.size() == 2)) {
      add_words(found_.needs, words, 1);
    } else if (command == "extensions") {
      add_words(found_.provides, words, 1);
    }
  }

  void read_path(const std::vector<Word>& words) {
    std::size_t at = 1;
    while (at < words.size() && words[at] && words[at]->starts_with('-')) at += words[at] == "-d" ? 2 : 1;
    if (at < words.size() && !words[at]) found_.unsure = "it changes a path whose name is not known";
    if (at + 1 >= words.size() || words[at] != "MODULEPATH") return;
    ++understood_;
    if (words[0] == "remove-path") return;
    if (at != 1) found_.unsure = "it changes MODULEPATH by another separator";
    for (++at; at < words.size(); ++at) add_directories(found_, words[at].value_or(""));
  }

  void read_module_command(const std::string& command, const std::vector<Word>& words) {
    if (command == "load" || command == "add") add_words(found_.needs, words, 2);
    if (command != "use") return;
    ++used_;
    for (std::size_t at = 2; at < words.size(); ++at) {
      if (!words[at] || !words[at]->starts_with('-')) add_directories(found_, words[at].value_or(""));
    }
  }

  static void add_words(std::vector<std::string>& list, const std::vector<Word>& words, std::size_t from) {
    for (std::size_t at = from; at < words.size(); ++at) {
      constexpr std::string_view not_of_names = "-+~";  // an option, a variant
      if (words[at] && !words[at]->empty() && not_of_names.find(words[at]->front()) == std::string_view::npos)
        add_module_value(list, *words[at]);
    }
  }

  std::string_view text_;
  ModuleText found_;
  std::map<std::string, std::string> values_;
  mutable std::set<std::string> read_names_;  // those whose value was asked for
  std::string plain_;                         // the text without comments
  std::size_t understood_ = 0, used_ = 0;     // of MODULEPATH, and of `module use`
};

}  // namespace

bool is_tcl_module(std::string_view text) noexcept { return text.starts_with("#%Module"); }

ModuleText read_tcl_module(std::string_view text) {
  ModuleText said = TclModule(text.substr(0, module_text_max)).read();
  if (text.size() >= module_text_max) said.unsure = "it is too long";
  return said;
}

}  // namespace sabath
