// A repository of Hugging Face's hub at one commit: the grammar of its names, its folder in the hub's cache, and the
// note by which a store remembers which tree it is. docs/huggingface.md. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sabath/resolver.h"

namespace sabath {

[[nodiscard]] bool is_hub_commit(std::string_view text) noexcept;      // 40 lower-case hexadecimal digits
[[nodiscard]] bool is_hub_repository(std::string_view text) noexcept;  // "OWNER/NAME" or "NAME", as the hub allows them
[[nodiscard]] bool is_hub_kind(std::string_view text) noexcept;        // "models", "datasets", "spaces"
// A branch, a tag or a commit: components of a path, none of them "." or "..".
[[nodiscard]] bool is_hub_revision(std::string_view text) noexcept;
[[nodiscard]] bool is_sound(const HubRevision& hub) noexcept;

// "acme/net", "datasets/acme/set": as hf:// URLs have it, and people write it.
[[nodiscard]] std::string spelled(const HubRevision& hub);
// Kind and repository of such a text. Throws Error{usage}.
[[nodiscard]] HubRevision parse_hub_repository(std::string_view text);

// "models--acme--net": the folder of a repository in a cache.
[[nodiscard]] std::string hub_folder(const HubRevision& hub);
[[nodiscard]] std::optional<HubRevision> try_parse_hub_folder(std::string_view name);

// The text of a ref's note. Any other text is none.
[[nodiscard]] std::string encode_hub_note(const HubRevision& hub);
[[nodiscard]] std::optional<HubRevision> try_decode_hub_note(std::string_view note);

}  // namespace sabath
