#include "holdings/place_note.h"

#include <fmt/format.h>

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

void warn_of_place(const Store& store, const Manifest& manifest, const std::filesystem::path& where,
                   EventSink& events) {
  const auto entry = manifest.find(RelativePath::parse("environment.json"));
  if (!entry || !entry->is_file()) return;
  const auto text = store.text_of(entry->digest, noting_bytes_max);
  const std::string place = text ? place_in_note(*text) : std::string();
  if (place.empty() || place == where.lexically_normal()) return;
  events.on(event::Warning{fmt::format("this environment is made for {}, and comes to {}: its files name the other "
                                       "place, so it works only where that path leads to it",
                                       printable(place, 1000), printable(where.native(), 1000))});
}

}  // namespace sabath
