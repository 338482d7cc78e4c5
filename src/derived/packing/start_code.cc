#include "packing/start_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/split.h"
#include "base/text.h"

namespace sabath {
namespace {

constexpr std::array<std::string_view, 2> known_precedence{
    "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; enabled and "
    "__import__('_distutils_hack').add_shim();",
    "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'stdlib') == 'local'; enabled and "
    "__import__('_distutils_hack').add_shim();"};
constexpr std::string_view namespace_place = "p = os.path.join(sys._getframe(1).f_locals['sitedir'], *(";
constexpr std::string_view namespace_end =
    "mp = (m or []) and m.__dict__.setdefault('__path__',[]);(p not in mp) and mp.append(p)";

bool is_module_word(std::string_view word) {
  return !word.empty() && word.size() <= 200 && !is_digit(word.front()) && std::ranges::all_of(word, [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

// The words of ('a', 'b') or ('a',), after its parenthesis; empty: it is none.
std::vector<std::string> words_of_tuple(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string& part : parts_at(text.substr(0, text.find(')')), ',')) {
    const std::string_view word = trim(part);
    if (word.empty() && words.size() == 1) break;
    if (word.size() < 3 || word.front() != '\'' || word.back() != '\'') return {};
    words.emplace_back(word.substr(1, word.size() - 2));
    if (!is_module_word(words.back())) return {};
  }
  return words;
}

// What the versions of setuptools have written for a namespace package.
std::vector<std::string> namespace_lines(const std::vector<std::string>& words) {
  const std::string package = fmt::format("{}", fmt::join(words, "."));
  const std::string tuple =
      words.size() == 1 ? fmt::format("'{}',", words[0]) : fmt::format("'{}'", fmt::join(words, "', '"));
  const std::string place = fmt::format("{}{}))", namespace_place, tuple);
  const std::string found = fmt::format(
      "sys.modules.setdefault('{0}', importlib.util.module_from_spec(importlib.machinery.PathFinder.find_spec('{0}', "
      "[os.path.dirname(p)])))",
      package);
  const std::string made = fmt::format("sys.modules.setdefault('{0}', types.ModuleType('{0}'))", package);
  std::vector<std::string> lines{
      fmt::format("import sys, types, os;has_mfs = sys.version_info > (3, 5);{};importlib = has_mfs and "
                  "__import__('importlib.util');has_mfs and __import__('importlib.machinery');m = has_mfs and {};m = m "
                  "or {};{}",
                  place, found, made, namespace_end),
      fmt::format("import sys, types, os;{};importlib = __import__('importlib.util');"
                  "__import__('importlib.machinery');m = {};m = m or {};{}",
                  place, found, made, namespace_end),
      fmt::format("import sys, types, os;{};ie = os.path.exists(os.path.join(p,'__init__.py'));m = not ie and {};{}",
                  place, made, namespace_end)};
  if (words.size() < 2) return lines;
  const std::vector<std::string> above(words.begin(), words.end() - 1);
  const std::string joint =
      fmt::format(";m and setattr(sys.modules['{}'], '{}', m)", fmt::join(above, "."), words.back());
  for (std::string& line : lines) line += joint;
  return lines;
}

}  // namespace

bool is_known_start_code(std::string_view file, std::string_view line) {
  while (line.ends_with(' ') || line.ends_with('\r')) line.remove_suffix(1);
  if (file == "distutils-precedence.pth") return std::ranges::find(known_precedence, line) != known_precedence.end();
  const std::size_t start = line.find(namespace_place);
  if (!file.ends_with("-nspkg.pth") || start == std::string_view::npos) return false;
  const std::vector<std::string> words = words_of_tuple(line.substr(start + namespace_place.size()));
  if (words.empty()) return false;
  const std::vector<std::string> known = namespace_lines(words);
  return std::ranges::find(known, line) != known.end();
}

bool is_start_module(std::string_view name) {
  const std::string_view module = name.substr(0, name.find('.'));
  return module == "sitecustomize" || module == "usercustomize";
}

}  // namespace sabath
