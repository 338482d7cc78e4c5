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
#include "jobs/job_memory.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/runs/job_fields.h"

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
  const auto count = key == "job_memory" ? try_job_memory(text) : try_whole_number(text);
  if (count && *count > 0 && *count <= maximum) return count;
  throw Error(FailureKind::invalid, fmt::format("{}: {} cannot be {}", model.origin, key, printable(text)),
              key == "job_memory" ? job_memory_hint : "mend the recipe's metadata");
}

void read_job_memory(const Field& field, JsonObject& request, void* at) {
  const JsonValue* const value = request.find(field.key);
  const auto* const text = value == nullptr ? nullptr : value->get<std::string>();
  if (text == nullptr) return type_of<std::optional<std::uint64_t>>.read(field, request, at);
  auto& bytes = *static_cast<std::optional<std::uint64_t>*>(at);
  bytes = try_job_memory(*text);
  if (!bytes) request.fail(field.key, fmt::format("'{}' is no size of memory", printable(*text)), job_memory_hint);
}

void parse_job_memory(const Field&, const std::string& option, const std::string& text, void* at) {
  auto& bytes = *static_cast<std::optional<std::uint64_t>*>(at);
  bytes = try_job_memory(text);
  if (!bytes)
    throw Error(FailureKind::usage, fmt::format("{} cannot be '{}'", option, printable(text)), job_memory_hint);
}

}  // namespace sabath
