#include "verbs/runs/job_words.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>
#include <random>

#include "base/file.h"
#include "base/hash.h"
#include "base/split.h"
#include "base/working_directory.h"
#include "harness/module_lock.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::uint64_t locked_record_size_max = 16U << 20U;

}  // namespace

std::string new_job_id() {
  std::random_device random;
  return fmt::format("{:%Y%m%dT%H%M%S}-{:06x}", fmt::gmtime(std::time(nullptr)), random() & 0xffffffU);
}

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

std::string text_of_lock(const RunCall& call, const Site& site) {
  if (call.request.lock.empty()) return {};
  const ModuleLock lock = read_module_lock(call, site);
  auto text = try_read_text(lock.path, locked_record_size_max);
  if (text && sha256(*text).prefixed() == lock.digest) return std::move(*text);
  throw Error(FailureKind::changed, fmt::format("{} changed while it was read", printable(lock.path, 1000)),
              "say it again");
}

}  // namespace sabath
