#include "run/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/text.h"
#include "base/wording.h"
#include "recipe/command_template.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Kind = TemplatePiece::Kind;

// Characters that stand for themselves in a shell: in a word, and in both kinds of quotes.
bool is_inert(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("_-+=.,:/@%").find(c) != std::string_view::npos || static_cast<unsigned char>(c) >= 0x80;
}

bool is_inert(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return is_inert(c); });
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

const std::string& need(const std::string& value, std::string_view what) {
  if (!value.empty()) return value;
  throw Error(FailureKind::not_found, fmt::format("the recipe's command needs {{{}}}, and there is none", what),
              what == "source"      ? "the recipe names neither git nor source"
              : what == "from.path" ? fmt::format("name an asset by {}", option_text("from"))
                                    : "name a dataset");
}

const Places::Fragment& fragment_of(const std::map<std::string, Places::Fragment>& fragments, std::string_view of,
                                    const std::string& id) {
  if (const auto found = fragments.find(id); found != fragments.end()) return found->second;
  throw Error(FailureKind::not_found,
              fmt::format("the recipe's command needs {{{}.{}}}, and the {} has no such fragment", of, id, of),
              fmt::format("`{} NAME` names its fragments", verb_text("info")));
}

std::string value_of(const TemplatePiece& piece, const Places& places) {
  switch (piece.kind) {
    case Kind::literal:
      return piece.text;
    case Kind::source:
      return need(places.source, "source");
    case Kind::dataset:
      return need(places.dataset, "dataset");
    case Kind::dataset_fragment:
      return fragment_of(places.fragments, "dataset", piece.text).path;
    case Kind::dataset_fragment_directory:
      return fragment_of(places.fragments, "dataset", piece.text).directory;
    case Kind::model_fragment:
      return fragment_of(places.model_files, "model", piece.text).path;
    case Kind::model_fragment_directory:
      return fragment_of(places.model_files, "model", piece.text).directory;
    case Kind::config:
      if (const auto found = places.config.find(piece.text); found != places.config.end()) return found->second;
      throw Error(FailureKind::usage, fmt::format("the recipe needs a value of '{}'", piece.text),
                  fmt::format("give it with {} {}=VALUE", option_text("set"), piece.text));
    case Kind::asset:
      if (const auto found = places.assets.find(piece.text); found != places.assets.end()) return found->second;
      throw Error(FailureKind::internal, fmt::format("the asset {} was not brought", piece.text));
    case Kind::nodes:
      return fmt::to_string(places.nodes);
    case Kind::from:
      return need(places.from, "from.path");
    case Kind::ranks:
      break;
  }
  return fmt::to_string(places.ranks);
}

std::string expand_word(const std::string& word, const Places& places, bool shell) {
  std::string text;
  for (const TemplatePiece& piece : parse_template(word)) {
    const std::string value = value_of(piece, places);
    if (shell && piece.kind != Kind::literal && (!is_inert(value) || value.empty())) {
      throw Error(
          FailureKind::usage,
          fmt::format("a step of the recipe is text for a shell, and '{}' is not plain text to one", printable(value)),
          "use paths and values of letters, digits and _ - + = . , : / @ %, or a recipe with \"argv\"");
    }
    text += value;
  }
  return text;
}

[[noreturn]] void refuse_set(const Recipe& model, const RunSets& sets, const std::string& wanted) {
  std::vector<std::string> keys;
  for (const auto& [key, steps] : sets) keys.push_back(key);
  const auto meant = nearest(wanted, keys);
  throw Error(FailureKind::not_found,
              fmt::format("the recipe of {} does not say how to run on {}", model.name, printable(wanted)),
              keys.empty() ? "it has no run sets of this mode"
              : meant
                  ? fmt::format("did you mean {}?", *meant)
                  : fmt::format("it has run sets for {}; {} names one", fmt::join(keys, ", "), option_text("run_set")));
}

template <typename Visit>
void for_each_piece(std::span<const Step> steps, const Visit& visit) {
  for (const Step& step : steps) {
    for (const std::string& word : step.argv) {
      for (const TemplatePiece& piece : parse_template(word)) visit(piece);
    }
  }
}

bool uses(std::span<const Step> steps, Kind kind) {
  bool used = false;
  for_each_piece(steps, [&](const TemplatePiece& piece) { used = used || piece.kind == kind; });
  return used;
}

// What stands in placeholders of this kind, each once, in order.
std::vector<std::string> texts_of(const std::vector<Step>& steps, Kind kind) {
  std::vector<std::string> texts;
  for_each_piece(steps, [&](const TemplatePiece& piece) {
    if (piece.kind == kind && std::ranges::find(texts, piece.text) == texts.end()) texts.push_back(piece.text);
  });
  return texts;
}

bool is_told_ranks(std::span<const Step> steps) { return uses(steps, Kind::ranks) || uses(steps, Kind::nodes); }

}  // namespace

const std::pair<std::string, std::vector<Step>>& choose_set(const Recipe& model, const RunSets& sets,
                                                            const Recipe& dataset, const std::string& wanted) {
  const auto by_key = [&](const std::string& name) {
    return std::ranges::find_if(sets, [&](const auto& set) { return to_lower(set.first) == to_lower(name); });
  };
  if (!wanted.empty()) {
    if (const auto found = by_key(wanted); found != sets.end()) return *found;
    refuse_set(model, sets, wanted);
  }
  if (const auto found = by_key(dataset.name); found != sets.end()) return *found;
  const std::string plain = dataset.name.substr(dataset.name.rfind('/') + 1);  // of a catalogue of others
  if (const auto found = by_key(plain); found != sets.end()) return *found;
  if (model.schema == 0) {  // the original looked at no key at all
    if (sets.size() == 1) return sets.front();
    for (const Fragment& fragment : dataset.fragments) {
      if (const auto found = by_key(fragment.id); found != sets.end() && dataset.fragments.size() == 1) return *found;
    }
  }
  refuse_set(model, sets, dataset.name);
}

std::map<std::string, Places::Fragment> fragment_places(const Recipe& asset, const std::string& view) {
  std::map<std::string, Places::Fragment> places;
  for (const Fragment& fragment : asset.fragments) {
    const std::string path = fragment.path ? view + "/" + fragment.path->text() : view;
    places[fragment.id] = {path, fragment.type == FragmentType::file ? directory_of(path) : path};
  }
  return places;
}

std::vector<Launch> expand(const std::vector<Step>& steps, const Places& places,
                           const std::vector<std::string>& extra) {
  std::vector<Launch> launches;
  for (const Step& step : steps) {
    Launch launch;
    launch.parallel = step.parallel;
    launch.told_ranks = is_told_ranks(std::span(&step, 1));
    if (step.shell) launch.argv = {"/bin/sh", "-c"};
    for (const std::string& word : step.argv) launch.argv.push_back(expand_word(word, places, step.shell));
    launches.push_back(std::move(launch));
  }
  if (extra.empty() || launches.empty()) return launches;
  if (steps.back().shell) {
    throw Error(FailureKind::usage, "the last step of the recipe is text for a shell: it takes no arguments after --",
                "leave them out");
  }
  launches.back().argv.insert(launches.back().argv.end(), extra.begin(), extra.end());
  return launches;
}

std::vector<std::string> config_keys(const std::vector<Step>& steps) { return texts_of(steps, Kind::config); }

std::vector<std::string> asset_names(const std::vector<Step>& steps) { return texts_of(steps, Kind::asset); }

bool uses_model_files(const std::vector<Step>& steps) {
  return uses(steps, Kind::model_fragment) || uses(steps, Kind::model_fragment_directory);
}

bool takes_ranks(const std::vector<Step>& steps) {
  return std::ranges::any_of(steps, &Step::parallel) || is_told_ranks(steps);
}

bool uses_source(const std::vector<Step>& steps) { return uses(steps, Kind::source); }

namespace {

// Within quotes, but for line breaks and tabs: whether a terminal would show something else than there is.
bool is_seen(std::string_view word) {
  std::string text(word);
  std::erase_if(text, [](char c) { return c == '\n' || c == '\t'; });
  return printable(text, text.size()) == text;
}

// As bash, zsh and POSIX of 2024 read it: every byte that is not plain by its number.
std::string quoted_by_number(std::string_view word) {
  std::string text = "$'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7F && c != '\'' && c != '\\';
    text += plain ? std::string(1, c) : fmt::format("\\{:03o}", byte);
  }
  return text + "'";
}

}  // namespace

std::string shell_line(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& word : argv) {
    if (!line.empty()) line += ' ';
    if (!is_seen(word)) {
      line += quoted_by_number(word);
      continue;
    }
    if (!word.empty() && is_inert(word)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) c == '\'' ? line += "'\\''" : line += c;
    line += '\'';
  }
  return line;
}

}  // namespace sabath
