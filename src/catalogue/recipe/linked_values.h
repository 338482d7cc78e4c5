// Values of documents in JSON-LD and its like, whose writers differ in prefixes, in lists of one, and in types. Inside
// src/catalogue/recipe only. Pure; any thread; throws nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "sabath/metadata.h"

namespace sabath {

// A member under its short name, or with the prefix of a known vocabulary; nullptr: it is absent or null.
[[nodiscard]] const JsonValue* member_of(const JsonValue& value, std::string_view key);
// Whether a document's key is this one, with or without such a prefix.
[[nodiscard]] bool means_key(std::string_view written, std::string_view key);
// One text; "" if it is none. Of a text in languages ({"en": ...}, or {"@language": "en", "@value": ...} and others)
// the English one, else the first.
[[nodiscard]] std::string text_of_member(const JsonValue& value, std::string_view key);
[[nodiscard]] std::vector<const JsonValue*> each_of(const JsonValue* value);  // one value, or a list of them
[[nodiscard]] std::vector<std::string> texts_of_member(const JsonValue& value, std::string_view key);
[[nodiscard]] bool has_type(const JsonValue& value, std::string_view name);  // "Dataset": also sc:Dataset, or a URI

// Letters, digits and ._+- of a text that may hold anything; empty if it holds none of them.
[[nodiscard]] std::string name_out_of(std::string_view text);
// Texts of people without control characters, at most 4,096 bytes; `lines`: newlines stay, and 64 KiB do.
[[nodiscard]] std::string clean_text(std::string text, bool lines);
// An SPDX identifier out of one, or out of the page of a known licence; empty: none is known.
[[nodiscard]] std::string licence_out_of(std::string text);
[[nodiscard]] std::string doi_out_of(std::string_view text);  // "10.1234/a" of a URL, "doi:..." or itself; else empty
// A person or an organisation of schema.org; no name: nothing is known of it.
[[nodiscard]] Party party_out_of(const JsonValue& value);

}  // namespace sabath
