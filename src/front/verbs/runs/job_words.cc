#include "verbs/runs/job_words.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>
#include <random>

#include "base/file.h"
#include "base/hash.h"
#include "base/split.h"
#include "base/text.h"
#include "base/working_directory.h"
#include "harness/module_lock.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
std::string settled(const std::string& name) {
  const bool may_be = name.find('/') != name.npos || name.ends_with(".json");
  return may_be && try_stat(name) ? absolute_path(name).string() : name;
}

std::string absolute_list(const std::string& paths) {
  std::vector<std::string> all;
  for (const std::string_view one : parts_at(paths, ':'))
    all.push_back(one.empty() ? "" : absolute_path(std::string(one)).string());
  return fmt::format("{}", fmt::join(all, ":"));
}

std::string escaped_commas(const std::string& value) {
  std::string text;
  for (const char c : value) text += c == ',' ? std::string("\\,") : std::string(1, c);
  return text;
}

std::string job_fact(const Recipe& model, const std::string& key) {
  const auto found = model.metadata.find(key);
  return found == model.metadata.end() ? "" : found->second;
}

std::optional<std::uint64_t> job_count(const Recipe& model, const std::string& key, std::uint64_t maximum) {
  const std::string text = job_fact(model, key);
  if (text.empty()) return std::nullopt;
  const auto count = key == "job_memory" ? parse_size(text) : try_whole_number(text);
  if (count && *count > 0 && *count <= maximum) return count;
  throw Error(FailureKind::invalid, fmt::format("{}: {} cannot be {}", model.origin, key, printable(text)),
              "mend the recipe's metadata");
}

}  // namespace sabath
