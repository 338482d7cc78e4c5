#include "directives.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace sabath::test {
namespace {

struct KnownOption {
  std::string_view name;
  bool takes_value;
};

// Words of a line as sbatch, bsub and Flux part them: at blanks, with quotes.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool any = false;
  char quote = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c, any = true;
    } else if (c == ' ' || c == '\t') {
      if (any) words.push_back(word);
      word.clear(), any = false;
    } else {
      word += c, any = true;
    }
  }
  if (quote != 0) throw std::runtime_error("an open quote: " + std::string(line));
  if (any) words.push_back(word);
  return words;
}

template <std::size_t N>
const KnownOption* find_option(const std::array<KnownOption, N>& known, std::string_view name) {
  for (const KnownOption& option : known) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

// --name=value, --name value, -x value.
template <std::size_t N>
void take_options(const std::vector<std::string>& words, const std::array<KnownOption, N>& known, Directives& found) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto sign = word.starts_with("--") ? word.find('=') : word.npos;
    const std::string name = word.substr(0, sign);
    const KnownOption* option = find_option(known, name);
    if (option == nullptr) throw std::runtime_error("no such option: " + word);
    if (sign != word.npos) {
      if (!option->takes_value) throw std::runtime_error("takes no value: " + word);
      found.emplace_back(name, word.substr(sign + 1));
    } else if (option->takes_value) {
      if (++i == words.size()) throw std::runtime_error("no value: " + word);
      found.emplace_back(name, words[i]);
    } else {
      found.emplace_back(name, "");
    }
  }
}

constexpr std::array<KnownOption, 17> slurm_options{{{"--job-name", true},
                                                     {"--nodes", true},
                                                     {"--ntasks", true},
                                                     {"--ntasks-per-node", true},
                                                     {"--cpus-per-task", true},
                                                     {"--gpus-per-node", true},
                                                     {"--mem", true},
                                                     {"--time", true},
                                                     {"--partition", true},
                                                     {"--account", true},
                                                     {"--array", true},
                                                     {"--signal", true},
                                                     {"--output", true},
                                                     {"--open-mode", true},
                                                     {"--requeue", false},
                                                     {"--export", true},
                                                     {"--chdir", true}}};
constexpr std::array<KnownOption, 8> pbs_options{
    {{"-N", true}, {"-l", true}, {"-q", true}, {"-A", true}, {"-J", true}, {"-j", true}, {"-r", true}, {"-o", true}}};
constexpr std::array<KnownOption, 11> flux_options{{{"--job-name", true},
                                                    {"--nodes", true},
                                                    {"--nslots", true},
                                                    {"--cores-per-slot", true},
                                                    {"--gpus-per-slot", true},
                                                    {"--time-limit", true},
                                                    {"--signal", true},
                                                    {"--queue", true},
                                                    {"--bank", true},
                                                    {"--output", true},
                                                    {"--env", true}}};
constexpr std::array<KnownOption, 13> lsf_options{{{"-J", true},
                                                   {"-n", true},
                                                   {"-R", true},
                                                   {"-gpu", true},
                                                   {"-M", true},
                                                   {"-W", true},
                                                   {"-wa", true},
                                                   {"-wt", true},
                                                   {"-q", true},
                                                   {"-P", true},
                                                   {"-o", true},
                                                   {"-r", false},
                                                   {"-env", true}}};

void take_line(std::string_view scheduler, std::string_view line, Directives& found) {
  const std::vector<std::string> words = words_of(line);
  if (scheduler == "slurm") return take_options(words, slurm_options, found);
  if (scheduler == "pbs") return take_options(words, pbs_options, found);
  if (scheduler == "flux") return take_options(words, flux_options, found);
  take_options(words, lsf_options, found);
}

std::string_view directive_of(std::string_view scheduler) {
  return scheduler == "slurm" ? "#SBATCH" : scheduler == "pbs" ? "#PBS" : scheduler == "flux" ? "#flux:" : "#BSUB";
}

}  // namespace

Directives directives_in(std::string_view scheduler, std::string_view script) {
  if (!script.starts_with("#!")) throw std::runtime_error("no shebang");
  Directives found;
  bool over = false;  // Slurm and PBS read up to the first command; Flux and LSF to the end
  while (!script.empty()) {
    const auto end = std::min(script.find('\n'), script.size());
    std::string_view line = script.substr(0, end);
    script.remove_prefix(std::min(end + 1, script.size()));
    if (line.find('\r') != line.npos) throw std::runtime_error("a carriage return");
    if (line.starts_with(directive_of(scheduler))) {
      line.remove_prefix(directive_of(scheduler).size());
      if (!line.starts_with(' ')) throw std::runtime_error("no blank after the mark");
      if (over) throw std::runtime_error("a directive after the first command");
      take_line(scheduler, line, found);
    } else if (!line.empty() && !line.starts_with('#')) {
      over = true;
    }
  }
  return found;
}

std::string value_of(const Directives& directives, std::string_view option) {
  std::string value = "-";
  for (const auto& [name, text] : directives) {
    if (name == option) value = text;
  }
  return value;
}

}  // namespace sabath::test
