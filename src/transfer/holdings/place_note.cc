#include "holdings/place_note.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "base/json_reader.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::uint64_t noting_bytes_max = 16 << 20;

}  // namespace

std::string place_in_note(std::string_view text) {
  if (text.find("\"place\"") == std::string_view::npos) return {};
  try {
    const JsonValue root = parse_json(text, "environment.json", {.size_max = noting_bytes_max});
    JsonObject note(root, "environment.json", "a note");
    if (note.try_text("kind").value_or("") != "environment") return {};
    return note.try_text("place").value_or("");
  } catch (const Error&) {  // a data set's file, which means nothing here
    return {};
  }
}

std::string place_of_asset(const Store& store, const Manifest& manifest) {
  const auto entry = manifest.find(RelativePath::parse("environment.json"));
  if (!entry || !entry->is_file()) return {};
  const auto text = store.text_of(entry->digest, noting_bytes_max);
  return text ? place_in_note(*text) : std::string();
}

std::string warning_of_place(const std::string& place, const std::filesystem::path& where) {
  std::error_code error;
  if (place.empty() || place == where.lexically_normal() || std::filesystem::equivalent(place, where, error)) return {};
  return fmt::format(
      "this environment is made for {}, which its files name, and this is {}: it works where the first path leads to "
      "it",
      printable(place, 1000), printable(where.native(), 1000));
}

void warn_of_place(const std::string& place, const std::filesystem::path& where, EventSink& events) {
  if (where.empty()) return;
  if (std::string warning = warning_of_place(place, where); !warning.empty())
    events.on(event::Warning{std::move(warning)});
}

}  // namespace sabath
