// The options and arguments of a verb, as data declared beside the verb: the parser, the help text and the suggestions
// read them. The targets of an OptionSet outlive it; parsing the command line fills them. One thread.
// Setters throw Error{usage} for a value that makes no sense.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sabath::cli {

struct Option {
  std::string names;  // "-d,--dataset"; an argument has no dash: "NAME"
  std::string value;  // "DIR"; empty for a flag
  std::string help;
  bool repeats = false;
  bool required = false;                        // arguments only
  bool rest = false;                            // all that stands after "--"
  std::function<void(const std::string&)> set;  // called for each value in order; a flag gives ""

  [[nodiscard]] bool is_argument() const { return names.front() != '-' && !rest; }
};

[[nodiscard]] std::vector<std::string> kind_words();  // what `--kind` takes

class OptionSet {
 public:
  void add(Option option) { options_.push_back(std::move(option)); }
  void flag(std::string names, bool& target, std::string help);
  void option(std::string names, std::string value, std::string& target, std::string help);
  void option(std::string names, std::string value, std::optional<std::string>& target, std::string help);
  void option(std::string names, std::string value, std::vector<std::string>& target, std::string help);  // repeats
  void choice(std::string names, std::vector<std::string> choices, std::string& target, std::string help);
  void count(std::string names, std::string value, std::uint64_t maximum, std::optional<std::uint64_t>& target,
             std::string help);
  void size(std::string names, std::string value, std::optional<std::uint64_t>& target, std::string help);  // "10M"
  void argument(std::string name, std::string& target, std::string help);                                   // required
  void optional_argument(std::string name, std::string& target, std::string help);
  void rest(std::string name, std::vector<std::string>& target, std::string help);  // what stands after "--"
  void arguments(std::string name, std::vector<std::string>& target, bool required, std::string help);

  [[nodiscard]] const std::vector<Option>& options() const { return options_; }

 private:
  void add(std::string names, std::string value, std::string help, std::function<void(const std::string&)> set);
  std::vector<Option> options_;
};

}  // namespace sabath::cli
