#include "cli/parser.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/text.h"
#include "cli/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

void add_option(CLI::App& app, const Option& option) {
  const auto set = option.set;
  if (!option.is_argument() && option.value.empty()) {
    app.add_flag_function(option.names, [set](std::int64_t) { set(""); })->disable_flag_override();
    return;
  }
  const auto set_all = [set](const std::vector<std::string>& values) {
    for (const std::string& value : values) set(value);
  };
  if (option.is_argument()) {
    CLI::Option* added = option.repeats ? app.add_option_function<std::vector<std::string>>(option.names, set_all)
                                        : app.add_option_function<std::string>(option.names, set);
    added->required(option.required);
    return;
  }
  CLI::Option* added = app.add_option_function<std::vector<std::string>>(option.names, set_all);
  // One value each time: `-d X NAME` leaves NAME alone. Of an option that does not repeat the last one counts.
  added->expected(1)->allow_extra_args(false);
  added->multi_option_policy(option.repeats ? CLI::MultiOptionPolicy::TakeAll : CLI::MultiOptionPolicy::TakeLast);
}

// One verb's CLI11 application with what its options fill.
struct Branch {
  const Verb* verb;
  CLI::App* app;
  OptionSet options;
  Action action;
};

class Line {
 public:
  // A verb that no argument names is not declared: declaring all takes longer than most look-ups.
  Line(const std::vector<std::string>& arguments, std::span<const Verb* const> verbs) : verbs_(verbs) {
    prepare(app_);
    declare_global_options(globals_, parsed_.globals);
    for (const Option& option : globals_.options()) add_option(app_, option);
    const auto border = std::ranges::find(arguments, "--");
    const auto given = [&](std::string_view word) {
      return !word.empty() && std::find(arguments.begin(), border, word) != border;
    };
    std::vector<std::string_view> by_mode;  // commands
    for (const Verb* verb : verbs) {
      if (given(mode_of(*verb))) by_mode.push_back(command_of(*verb));
    }
    for (const Verb* verb : verbs) {
      const std::string_view command = command_of(*verb);
      if (!given(command.substr(0, command.find(' ')))) continue;
      const bool other = std::ranges::find(by_mode, command) != by_mode.end();
      if (other ? given(mode_of(*verb)) : mode_of(*verb).empty()) add_verb(*verb);
    }
  }

  ParsedLine parse(std::vector<std::string> arguments) {
    join_mode(arguments);
    move_behind_verb(arguments);
    take_rest(arguments);
    std::ranges::reverse(arguments);  // CLI11 takes them from the back
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::CallForHelp&) {
      if (chosen() == nullptr && !app_.remaining(true).empty()) explain_extras();
      parsed_.help = true;
    } catch (const CLI::ExtrasError&) {
      explain_extras();
    } catch (const CLI::RequiredError& error) {
      if (mistyped()) explain_extras();
      throw Error(FailureKind::usage, fmt::format("{}{}", command_words(), lower_first(error.what())), see_help());
    } catch (const CLI::ArgumentMismatch& error) {
      const std::string text = error.what();  // "--store: 1 required TEXT missing"
      const std::string option = text.substr(0, text.find(':'));
      throw Error(FailureKind::usage, fmt::format("{}{} needs one value", command_words(), printable(option)),
                  see_help());
    } catch (const CLI::ParseError& error) {
      throw Error(FailureKind::usage, fmt::format("{}{}", command_words(), lower_first(error.what())), see_help());
    }
    if (const Branch* branch = chosen()) {
      parsed_.verb = branch->verb;
      parsed_.action = branch->action;
    } else {
      parsed_.group = group();
    }
    return std::move(parsed_);
  }

 private:
  static void prepare(CLI::App& app) {
    app.set_help_flag("-h,--help");
    app.require_subcommand(0, 1);
    app.fallthrough();
  }

  static std::string lower_first(std::string text) {
    if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
      text[0] = static_cast<char>(text[0] | 0x20);
    return printable(text, 400);
  }

  // `help apply --list`: the option is a part of the name that is asked for.
  void join_mode(std::vector<std::string>& arguments) const {
    const auto border = std::ranges::find(arguments, "--");
    const auto help = std::find(arguments.begin(), border, "help");
    for (const Verb* verb : verbs_) {
      if (mode_of(*verb).empty()) continue;
      const auto mode = std::find(help, border, mode_of(*verb));
      if (mode == border || mode - help != 2 || *(help + 1) != command_of(*verb)) continue;
      *(help + 1) = verb->name;
      arguments.erase(mode);
      return;
    }
  }

  // An option of a verb may stand before it, as a global one may behind it.
  void move_behind_verb(std::vector<std::string>& arguments) const {
    for (const auto& branch : branches_) {
      std::vector<std::string> front, moved;
      std::size_t at = 0;
      while (at < arguments.size() && arguments[at].starts_with('-')) {
        const Option* const global = option_of(globals_, arguments[at]);
        const Option* const own = global != nullptr ? nullptr : option_of(branch->options, arguments[at]);
        if (global == nullptr && own == nullptr) break;
        const bool apart = !(global != nullptr ? global : own)->value.empty() && !has_value(arguments[at]);
        auto& to = own != nullptr ? moved : front;
        to.push_back(arguments[at++]);
        if (apart && at < arguments.size()) to.push_back(arguments[at++]);
      }
      std::string words;
      const std::string_view command = command_of(*branch->verb);
      while (at < arguments.size() && words.size() < command.size()) {
        front.push_back(arguments[at]);
        words += (words.empty() ? "" : " ") + arguments[at++];
      }
      if (moved.empty() || words != command) continue;
      front.insert(front.end(), moved.begin(), moved.end());
      front.insert(front.end(), arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
      arguments = std::move(front);
      return;
    }
  }

  // Of "--to=DIR", "--to", "-jN" or "-j".
  static const Option* option_of(const OptionSet& set, const std::string& word) {
    const std::string name = word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
    const auto has_name = [&](const Option& option) {
      std::vector<std::string> names;
      append_names(option, names);
      return std::ranges::find(names, name) != names.end();
    };
    const auto found = std::ranges::find_if(set.options(), has_name);
    return found == set.options().end() ? nullptr : &*found;
  }

  static bool has_value(const std::string& word) {
    return word.starts_with("--") ? word.find('=') != std::string::npos : word.size() > 2;
  }

  // The words after "--" belong to another program, if the verb takes one. CLI11 does not keep this border.
  void take_rest(std::vector<std::string>& arguments) {
    const auto border = std::ranges::find(arguments, "--");
    const auto called = [&](const std::string& word) {
      return std::ranges::find_if(branches_, [&](const auto& branch) { return command_of(*branch->verb) == word; });
    };
    for (auto word = arguments.begin(); word != border; ++word) {
      const auto branch = called(*word);
      if (branch == branches_.end()) continue;  // an option, or the first word of a group
      const auto rest = std::ranges::find_if((*branch)->options.options(), &Option::rest);
      if (rest == (*branch)->options.options().end() || border == arguments.end()) return;
      std::for_each(border + 1, arguments.end(), rest->set);
      arguments.erase(border, arguments.end());
      return;
    }
  }

  void add_verb(const Verb& verb) {
    CLI::App* parent = &app_;
    std::string name(command_of(verb));
    if (const auto space = name.find(' '); space != std::string::npos) {
      const std::string group_name = name.substr(0, space);
      CLI::App*& group = groups_[group_name];
      if (group == nullptr) prepare(*(group = app_.add_subcommand(group_name)));
      parent = group;
      name.erase(0, space + 1);
    }
    CLI::App* app = parent->add_subcommand(name);
    prepare(*app);
    auto branch = std::make_unique<Branch>(Branch{&verb, app, {}, {}});
    branch->action = verb.options_into(branch->options);
    if (!mode_of(verb).empty()) branch->options.flag(std::string(mode_of(verb)), mode_, "");
    for (const Option& option : branch->options.options()) {
      if (!option.rest) add_option(*app, option);
    }
    branches_.push_back(std::move(branch));
  }

  const Branch* chosen() const {
    const auto found = std::ranges::find_if(branches_, [](const auto& branch) { return branch->app->parsed(); });
    return found == branches_.end() ? nullptr : found->get();
  }

  std::string group() const {
    const auto parsed = app_.get_subcommands();
    return parsed.empty() ? "" : parsed.front()->get_name();
  }

  std::string command_words() const {
    if (const Branch* branch = chosen()) return fmt::format("sabath {}: ", branch->verb->name);
    return group().empty() ? "" : fmt::format("sabath {}: ", group());
  }

  std::string see_help() const {
    const Branch* branch = chosen();
    const std::string words = branch != nullptr ? std::string(branch->verb->name) : group();
    return fmt::format("see: sabath {}{}--help", words, words.empty() ? "" : " ");
  }

  // The names that could have stood where the unknown word stands.
  std::vector<std::string> candidates(bool dashed) const {
    std::vector<std::string> names;
    if (dashed) {
      for (const Option& option : globals_.options()) append_names(option, names);
      if (const Branch* branch = chosen()) {
        for (const Option& option : branch->options.options()) append_names(option, names);
        for (const Verb* verb : verbs_) {
          if (command_of(*verb) == branch->verb->name) names.emplace_back(mode_of(*verb));
        }
      }
      names.emplace_back("--help");
      return names;
    }
    const std::string prefix = group().empty() ? "" : group() + " ";
    for (const Verb* verb : verbs_) {
      if (!verb->name.starts_with(prefix)) continue;
      std::string word(verb->name.substr(prefix.size()));
      names.push_back(word.substr(0, word.find(' ')));
    }
    return names;
  }

  static void append_names(const Option& option, std::vector<std::string>& names) {
    if (option.is_argument() || option.rest) return;
    for (std::string& name : CLI::detail::split_names(option.names)) names.push_back(std::move(name));
  }

  // The command that other programs call by this word, or one that is spelt nearly so.
  std::optional<std::string> other_word(const std::string& word) const {
    const std::string_view meant = command_meant_by(word);
    return meant.empty() ? nearest(word, candidates(false)) : std::optional(std::string(meant));
  }

  // As a shell reads it; an option stays one, where shell_word() would make a path of it.
  static std::string typed_word(const std::string& word) {
    std::string text = shell_word("_" + word);
    return text.erase(text.find('_'), 1);
  }

  // Whether the command takes every option of the words.
  bool takes(std::string_view command, std::span<const std::string> words) const {
    const auto verb = std::ranges::find(verbs_, command, &Verb::name);
    OptionSet set;
    const Action action = verb == verbs_.end() ? Action() : (*verb)->options_into(set);  // keeps the targets of `set`
    std::vector<std::string> names{"--help"};
    for (const OptionSet& options : {set, globals_}) {
      for (const Option& option : options.options()) append_names(option, names);
    }
    return std::ranges::all_of(words, [&](const std::string& word) {
      return !word.starts_with('-') || std::ranges::find(names, word.substr(0, word.find('='))) != names.end();
    });
  }

  // The same line with the name that the command has now.
  void refuse_renamed(const std::vector<std::string>& extras) const {
    const std::string_view now = extras.empty() ? "" : renamed_command(extras.front());
    if (now.empty()) return;
    std::string line = fmt::format("sabath {}", now);
    const auto words = std::span(extras).subspan(1);
    const bool fits = takes(now, words);
    for (const std::string& word : words) line += fits ? " " + typed_word(word) : "";
    throw Error(FailureKind::usage, fmt::format("no such command: '{}'", extras.front()),
                fmt::format("its name is `{}` now{}{}", line, fits ? "" : fmt::format(": see `{} --help`", line),
                            now == "keep" ? "; `sabath catalogue pin` is for recipes" : ""));
  }

  // An option that is none stands there: what else is missing is not the first thing to say.
  bool mistyped() const {
    const std::vector<std::string> extras = app_.remaining(true);
    return !extras.empty() && extras.front().starts_with("-");
  }

  [[noreturn]] void explain_extras() const {
    const std::vector<std::string> extras = app_.remaining(true);
    const std::string word = extras.empty() ? "" : extras.front();
    const bool dashed = word.starts_with("-");
    const bool surplus = !dashed && chosen() != nullptr;
    if (!dashed && !surplus && group().empty()) refuse_renamed(extras);
    const std::string option = word.substr(0, word.find('='));
    const char* what = dashed ? "no such option" : surplus ? "one argument too many" : "no such command";
    const auto meant = surplus                      ? std::nullopt
                       : !dashed && group().empty() ? other_word(word)
                                                    : nearest(dashed ? option : word, candidates(dashed));
    throw Error(FailureKind::usage, fmt::format("{}{}: '{}'", command_words(), what, printable(dashed ? option : word)),
                meant ? fmt::format("did you mean {}?", *meant) : see_help());
  }

  const std::span<const Verb* const> verbs_;
  CLI::App app_;
  OptionSet globals_;
  ParsedLine parsed_;
  bool mode_ = false;                        // its option was given: that has chosen the verb already
  std::map<std::string, CLI::App*> groups_;  // owned by app_
  std::vector<std::unique_ptr<Branch>> branches_;
};

}  // namespace

ParsedLine parse_line(const std::vector<std::string>& arguments, std::span<const Verb* const> verbs) {
  return Line(arguments, verbs).parse(arguments);
}

}  // namespace sabath::cli
