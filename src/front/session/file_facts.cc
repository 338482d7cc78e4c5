#include "session/file_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "formats/inspect/inspect_file.h"
#include "formats/inspect/inspect_format.h"
#include "formats/npy.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::size_t lines_max = 2000, line_bytes_max = 512, numbers_max = 500, values_shown_max = 16;
constexpr std::size_t small_datasets_max = 16, small_elements_max = 32;  // of a file, of a dataset

constexpr std::string_view packed_ending = ".gz";

struct TooLong {};  // the time for all files is over

// A scalar as text; numbers as people write them. nullopt: it is a list or more.
std::optional<std::string> scalar_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer() || value.is_boolean()) return value.dump();
  if (value.is_number()) return fmt::format("{}", value.get<double>());
  return std::nullopt;
}

std::string text_of_value(const Json& value) {
  if (const auto one = scalar_of(value)) return *one;
  if (!value.is_array() || value.size() > values_shown_max) return "";
  std::string text;
  for (const Json& each : value) {
    const auto one = scalar_of(each);
    if (!one) return "";
    text += (text.empty() ? "" : ", ") + *one;
  }
  return text;
}

// Numbers as extract_into() writes them, by NumPy's name of their type. Empty: other elements than numbers.
std::vector<double> numbers_of(std::string_view descr, std::string_view bytes) {
  if (descr.size() != 3 || std::string_view("iuf").find(descr[1]) == descr.npos) return {};
  const auto size = static_cast<std::size_t>(descr[2] - '0');
  if (size != 1 && size != 2 && size != 4 && size != 8) return {};
  std::vector<double> numbers;
  for (; bytes.size() >= size; bytes.remove_prefix(size)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), size);  // little-endian, as this machine's
    if (descr[1] == 'u') {
      numbers.push_back(static_cast<double>(word));
    } else if (descr[1] == 'i') {
      const unsigned unused = 64 - 8 * static_cast<unsigned>(size);
      numbers.push_back(static_cast<double>(static_cast<std::int64_t>(word << unused) >> unused));
    } else if (size == 8) {
      numbers.push_back(std::bit_cast<double>(word));
    } else if (size == 4) {
      numbers.push_back(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(word))));
    } else if (size == 2) {
      numbers.push_back(static_cast<double>(half_to_float(static_cast<std::uint16_t>(word))));
    }
  }
  return numbers;
}

bool is_small_list(const Json& object) {
  if (object.value("kind", "") != "dataset" || object.contains("sources")) return false;
  if (!object.contains("shape") || !object["shape"].is_array() || object["shape"].size() > 1) return false;
  const auto elements = object["shape"].empty() ? 1 : object["shape"][0].get<std::uint64_t>();
  return elements > 0 && elements <= small_elements_max;
}

// Float32 in fewer digits than the double that it became.
std::string text_of_number(double value) {
  const auto narrow = static_cast<float>(value);
  return static_cast<double>(narrow) == value ? fmt::format("{}", narrow) : fmt::format("{}", value);
}

}  // namespace

bool may_say_facts(std::string_view name) {
  const std::string lower = to_lower(name);
  return lower.ends_with(packed_ending) || inspect_format_named(lower) != nullptr;
}

FileFacts::FileFacts(fs::path program, std::chrono::milliseconds time_max, std::stop_token stop)
    : hdf5_(std::move(program)), end_(std::chrono::steady_clock::now() + time_max), stop_(std::move(stop)) {}

void FileFacts::check() const {
  if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "looking into files was stopped");
  if (std::chrono::steady_clock::now() >= end_) throw TooLong();
}

void FileFacts::add(const std::string& key, const std::string& value) {
  if (value.empty() || lines_.size() == lines_max) return;
  std::string line = printable(key + "=" + value, line_bytes_max);
  if (line.size() <= line_bytes_max && seen_.insert(line).second) lines_.push_back(std::move(line));
}

void FileFacts::add_number(const std::string& key, double value) {
  if (!std::isfinite(value)) return;
  const auto known = ranges_.find(key);
  if (known == ranges_.end()) {
    if (ranges_.size() < numbers_max) ranges_.emplace(key, std::pair(value, value));
    return;
  }
  known->second.first = std::min(known->second.first, value);
  known->second.second = std::max(known->second.second, value);
}

// Attributes of the file itself have their own names; those of an object stand behind its name.
void FileFacts::read_hdf5(const fs::path& file) {
  if (!hdf5_works_) return;
  Json record;
  try {
    record = hdf5_.inspect(file, stop_);
  } catch (const Error& error) {
    hdf5_works_ = error.failure().kind != FailureKind::command;  // there is no such program
    throw;
  }
  add("format", "hdf5");
  std::vector<std::pair<std::string, std::string>> small;  // paths, and names for people
  for (const Json& object : record.at("objects")) {
    std::string name = object.value("path", "");
    name.erase(0, std::min(name.find_first_not_of('/'), name.size()));
    if (object.contains("shape") && object["shape"].is_array()) {
      const auto shape = object["shape"].get<std::vector<std::uint64_t>>();
      add(name + ".shape", fmt::format("{}", fmt::join(shape, ",")));
    }
    if (object.value("kind", "") == "dataset" && object.contains("type") && object["type"].is_string())
      add(name + ".dtype", object["type"].get<std::string>());
    if (is_small_list(object) && small.size() < small_datasets_max) small.emplace_back(object.value("path", ""), name);
    if (!object.contains("attributes")) continue;
    for (const Json& attribute : object["attributes"]) {
      const std::string own = attribute.value("name", ""), key = name.empty() ? own : name + "@" + own;
      if (own == "_NCProperties") add("format", "netcdf");
      const Json value = attribute.contains("value") ? attribute["value"] : Json();
      add(key, text_of_value(value));
      if (value.is_number()) add_number(key, value.get<double>());
    }
  }
  for (const auto& [path, name] : small) {
    check();
    try {
      read_values(file, path, name);
    } catch (const Error& error) {
      if (error.failure().kind == FailureKind::interrupted) throw;  // else text, or damaged: it says nothing
    }
  }
}

// The parameters of a run, as CosmoFlow's physPar: their values, and of several files the range of each column.
void FileFacts::read_values(const fs::path& file, const std::string& path, const std::string& name) {
  const Fd room(::memfd_create("values", MFD_CLOEXEC));
  if (room.get() < 0) return;
  Hyperslab whole;
  whole.path = path;
  const Extracted what = hdf5_.extract(file, whole, {}, 0, stop_);
  std::string bytes(small_elements_max * sizeof(double), '\0');
  if (what.bytes > bytes.size()) return;
  const fs::path out = fmt::format("/proc/{}/fd/{}", ::getpid(), room.get());
  static_cast<void>(hdf5_.extract(file, whole, out, 0, stop_));
  const ssize_t got = ::pread(room.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const std::vector<double> numbers = numbers_of(what.descr, bytes);
  std::vector<std::string> texts;
  for (const double number : numbers) texts.push_back(text_of_number(number));
  if (texts.size() <= values_shown_max) add(name, fmt::format("{}", fmt::join(texts, ", ")));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    add_number(numbers.size() == 1 ? name : fmt::format("{}[{}]", name, i), numbers[i]);
}

void FileFacts::read(const fs::path& file) {
  std::string name = to_lower(file.filename().native());
  const bool packed = name.ends_with(packed_ending);
  if (packed) name.resize(name.size() - packed_ending.size());
  const InspectFormat* const format = inspect_format_named(name);
  if (format == nullptr || (packed && !(format->in_gzip && format->facts != nullptr))) return;
  const DataFile data(file, [this] { check(); });
  const auto reads = [&](const InspectFormat* one) { return one->by_program && one->is(data); };
  if (!packed && std::ranges::any_of(inspect_formats(), reads)) return read_hdf5(file);
  if (format->facts != nullptr) {
    if (!data.is_packed() || format->in_gzip) format->facts(data, *this);
  } else if (!format->by_program) {
    const InspectRecord record = inspect_file(file, data.on_progress());
    if (record.format != "unknown" && record.code.empty()) add_facts(record, *this);
  }
}

bool FileFacts::look_into(const fs::path& file) {
  const std::size_t before = lines_.size();
  try {
    check();
    read(file);
  } catch (const TooLong&) {
    return false;
  } catch (const Json::exception&) {
    return false;  // what another process said is not what was expected
  } catch (const Error& error) {
    if (error.failure().kind == FailureKind::interrupted) throw;
    return false;
  }
  return lines_.size() > before;
}

std::vector<std::string> FileFacts::lines() const {
  std::vector<std::string> all = lines_;
  for (const auto& [key, range] : ranges_) {
    if (range.first < range.second && all.size() < lines_max)
      all.push_back(
          printable(fmt::format("{}.range={}..{}", key, text_of_number(range.first), text_of_number(range.second)),
                    line_bytes_max));
  }
  return all;
}

}  // namespace sabath
