#include "store/partials/source_note.h"

#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "sabath/error.h"
#include "store/disk/layout.h"

namespace sabath {
namespace {

constexpr std::uint64_t note_size_max = 64 * 1024;

}  // namespace

std::optional<SourceNote> try_read_source_note(const std::filesystem::path& directory) {
  std::optional<std::string> text;
  try {
    text = try_read_text(directory / partial_source_name, note_size_max);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::invalid) throw;
  }
  const auto json = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto text_of = [&](const char* key) {
    const auto value = json.find(key);
    return value != json.end() && value->is_string() ? value->get<std::string>() : std::string();
  };
  SourceNote note{{{text_of("etag"), text_of("last_modified")}, text_of("source")}, std::nullopt};
  const auto size = json.find("size_bytes");
  if (size != json.end() && size->is_number_unsigned()) note.size_bytes = size->get<std::uint64_t>();
  return note;
}

}  // namespace sabath
