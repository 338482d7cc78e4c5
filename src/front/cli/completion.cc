#include "cli/completion.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/groups.h"
#include "sabath/error.h"

namespace sabath::cli {
namespace {

std::vector<std::string> parts_of(std::string_view text, char border) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(border, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Goes along the words as the parser does, but forgives what is not understood.
class Walk {
 public:
  explicit Walk(std::span<const Verb* const> verbs) : verbs_(verbs) {
    declare_global_options(global_set_, found_.globals);
  }

  void pass(const std::string& word) {
    if (rest_) return;
    if (value_of_ != nullptr) return take_value(*std::exchange(value_of_, nullptr), word);
    if (word == "--") {
      rest_ = true;
    } else if (is_option(word)) {
      pass_option(word);
    } else if (verb_ == nullptr) {
      pass_verb(word);
    } else {
      ++arguments_;
    }
  }

  Completion end(const std::string& word) {
    found_.begun = word;
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    if (rest_) {
      found_.place = Completion::Place::file;
    } else if (value_of_ != nullptr) {
      add_value(*value_of_, value_of_->value);
    } else if (equals != std::string::npos) {
      found_.before = word.substr(0, equals + 1);
      found_.begun = word.substr(equals + 1);
      if (const Option* option = find(word.substr(0, equals))) add_value(*option, option->value);
    } else if (word.starts_with("-")) {
      add_options();
    } else if (verb_ == nullptr) {
      add_verbs(name_);
    } else {
      add_argument();
    }
    return std::move(found_);
  }

 private:
  static bool is_option(const std::string& word) { return word.size() > 1 && word.starts_with("-"); }

  void pass_option(const std::string& word) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const Option* option = find(word.substr(0, equals));
    if (option == nullptr && take_mode(word)) return;
    unknown_ = option == nullptr && equals == word.size();
    if (option == nullptr) return;
    if (option->value.empty() || equals < word.size()) {
      take_value(*option, option->value.empty() ? "" : word.substr(equals + 1));
    } else {
      value_of_ = option;
    }
  }

  // "--where" of `info`.
  bool take_mode(const std::string& word) {
    const auto mode = std::ranges::find_if(verbs_, [&](const Verb* other) {
      return verb_ != nullptr && command_of(*other) == verb_->name && mode_of(*other) == word;
    });
    if (mode == verbs_.end()) return false;
    choose(**mode);
    return true;
  }

  // A word that no verb begins with, behind an option of a verb that is still to come, is that option's value.
  void pass_verb(const std::string& word) {
    const std::string name = name_.empty() ? word : name_ + " " + word;
    const bool begins = std::ranges::any_of(
        verbs_, [&](const Verb* verb) { return verb->name == name || verb->name.starts_with(name + " "); });
    if (!begins && std::exchange(unknown_, false)) return;
    name_ = name;
    choose();
  }

  static void take_value(const Option& option, const std::string& value) {
    try {
      option.set(value);
    } catch (const Error&) {}  // it is not finished, or the parser will say what is wrong with it
  }

  const Option* find(const std::string& name) const {
    for (const OptionSet* set : {&set_, &global_set_}) {
      for (const Option& option : set->options()) {
        if (option.is_argument() || option.rest) continue;
        const auto names = parts_of(option.names, ',');
        if (std::ranges::find(names, name) != names.end()) return &option;
      }
    }
    return nullptr;
  }

  void choose() {
    const auto verb = std::ranges::find_if(verbs_, [&](const Verb* one) { return one->name == name_; });
    if (verb == verbs_.end()) return;
    choose(**verb);
  }

  void choose(const Verb& verb) {
    verb_ = &verb;
    set_ = OptionSet();
    action_ = verb_->options_into(set_);
  }

  void add(const std::string& word, std::string help = {}) {
    if (!word.starts_with(found_.begun)) return;
    if (found_.words.empty() || found_.words.back().first != word) found_.words.emplace_back(word, std::move(help));
  }

  void add_options() {
    for (const Verb* verb : verbs_) {
      if (verb_ != nullptr && !mode_of(*verb).empty() && command_of(*verb) == verb_->name) {
        add(std::string(mode_of(*verb)), std::string(verb->summary));
      }
    }
    for (const OptionSet* set : {&set_, &global_set_}) {
      for (const Option& option : set->options()) {
        if (option.is_argument() || option.rest) continue;
        for (const std::string& name : parts_of(option.names, ',')) add(name, option.help);
      }
    }
    add("-h", "explain the command");
    add("--help", "explain the command");
  }

  void add_verbs(const std::string& group) {
    for (const Verb* verb : verbs_) {
      if (!mode_of(*verb).empty()) continue;
      const std::string_view name = verb->name;
      if (!group.empty() && !name.starts_with(group + " ")) continue;
      const std::string_view left = name.substr(group.empty() ? 0 : group.size() + 1);
      const bool whole = left.find(' ') == std::string_view::npos;
      add(std::string(left.substr(0, left.find(' '))), whole ? std::string(verb->summary) : "");
    }
  }

  void add_argument() {
    std::size_t left = arguments_;
    for (const Option& option : set_.options()) {
      if (!option.is_argument()) continue;
      if (left-- == 0 || option.repeats) return add_value(option, option.names);
    }
    add_options();
  }

  // By what the help text calls the value.
  void add_value(const Option& option, std::string_view what) {
    constexpr std::array<std::string_view, 10> files{"FILE", "PATH", "RUN", "MANIFEST", "OUT",
                                                     "LIST", "A",    "B",   "BEFORE",   "AFTER"};
    using Asset = Completion::Asset;
    if (what.find('|') != std::string_view::npos) {
      for (const std::string& choice : parts_of(what, '|')) add(choice);
    } else if (what == "DIR") {
      found_.place = Completion::Place::directory;
    } else if (std::ranges::find(files, what) != files.end()) {
      found_.place = Completion::Place::file;
      if (what == "MANIFEST") found_.asset = Asset::any;
    } else if (what == "MODEL" || what == "DATASET" || (what == "NAME" && option.is_argument())) {
      found_.place = Completion::Place::file;  // a recipe may be named by its file
      found_.asset = what == "MODEL" ? Asset::model : what == "DATASET" ? Asset::dataset : Asset::any;
    } else if (what == "COMMAND") {
      add_verbs("");
      for (const VerbGroup& group : verb_groups()) add(std::string(group.word), std::string(group.title));
      add("all", "every command");
      add("variables", "those of the environment");
    }
  }

  const std::span<const Verb* const> verbs_;
  OptionSet global_set_, set_;
  const Verb* verb_ = nullptr;
  Action action_;  // owns the targets of set_
  std::string name_;
  const Option* value_of_ = nullptr;  // the option whose value comes next
  std::size_t arguments_ = 0;
  bool rest_ = false, unknown_ = false;  // unknown: the word before was an option of no verb so far
  Completion found_;
};

}  // namespace

Completion complete(std::vector<std::string> words, std::span<const Verb* const> verbs) {
  bool split = false;  // by bash
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] != "=" || !words[i - 1].starts_with("--")) continue;
    const std::string value = i + 1 < words.size() ? words[i + 1] : "";
    split = i + 2 >= words.size();
    words[i - 1] += "=" + value;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(std::min(i + 2, words.size())));
  }
  if (words.empty()) words.emplace_back();
  Walk walk(verbs);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) walk.pass(words[i]);
  Completion found = walk.end(words.back());
  if (split) found.before.clear();
  return found;
}

}  // namespace sabath::cli
