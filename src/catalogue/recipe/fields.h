// Shared by the readers of both schemas: names, URLs, checksums, git sources, requirements, and the places of
// fragments. Inside src/catalogue/recipe only. Pure; any thread. Throws Error{invalid} with file, line and key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.h"
#include "recipe/parse.h"
#include "sabath/recipe.h"

namespace sabath {

// Required or optional keys of an object. "line": no tab, no newline.
[[nodiscard]] std::string take_name(JsonObject& object, std::string_view key);
[[nodiscard]] std::string take_line(JsonObject& object, std::string_view key);  // "" if absent
[[nodiscard]] std::vector<std::string> take_lines(JsonObject& object, std::string_view key);
[[nodiscard]] Url parse_url_at(const JsonValue& value, std::string_view origin);
[[nodiscard]] Checksums take_checksums(JsonObject& object);  // key "checksum"
[[nodiscard]] Requirements take_requirements(JsonObject& object, bool with_conda);
[[nodiscard]] std::map<std::string, std::string> take_env_vars(JsonObject& object);
[[nodiscard]] FragmentType take_fragment_type(JsonObject& object);

// https, http, ssh, git or file; only ssh may name a user.
[[nodiscard]] std::string parse_git_origin(const JsonValue& value, std::string_view origin);
// The keys origin, branch, tag, commit; does not finish() the object.
[[nodiscard]] GitSource read_git(JsonObject& git);

// Checks a command's placeholders where it stands.
void check_template(const JsonValue& value, std::string_view origin);

// The name under which a file fragment stands if its recipe gives no path: the file name of its first URL.
[[nodiscard]] std::optional<RelativePath> default_file_path(const Fragment& fragment);

// Refuses equal ids, equal paths, and anything below a file; and takes along the checksums that stand in the names of
// sources. `lines` tells where each fragment stands in the text.
void settle_fragments(std::vector<Fragment>& fragments, const std::vector<std::size_t>& lines, std::string_view origin);

// The readers themselves; `document` is the whole file.
[[nodiscard]] Recipe read_schema_0(const JsonValue& document, std::string_view origin, AssetKind kind);
[[nodiscard]] Recipe read_schema_1(const JsonValue& document, std::string_view origin);

}  // namespace sabath
