// Whether an answer's body is the file, by what the answer says of it: web pages where data was asked for (login pages,
// file viewers, captive portals), and what was packed or unpacked for the way. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sabath/error.h"
#include "sabath/fetcher.h"
#include "sabath/url.h"

namespace sabath {

// `first`: the first bytes of the body. A source whose own name ends in .html, .htm or .xhtml may be a page.
[[nodiscard]] std::optional<Failure> refuse_page(const Url& url, const ContentInfo& info,
                                                 std::span<const std::byte> first);

// Refuses bytes packed for the way where nothing proves which bytes are meant; a file that is named as packed passes.
[[nodiscard]] std::optional<Failure> refuse_packed(const Url& url, const ContentInfo& info);
// How to ask again where the bytes that came by `coding` are not the file; nullopt: there is no other way.
[[nodiscard]] std::optional<Coding> other_coding(const ContentInfo& info, Coding coding);
// The answer says what it does to the bytes, and that they are not as many as the file has.
[[nodiscard]] bool is_coded(const Url& url, const ContentInfo& info, Coding coding, std::uint64_t size_bytes);
// For messages: ", sent with Content-Encoding gzip"; empty where nothing was done.
[[nodiscard]] std::string how_sent(const ContentInfo& info, Coding coding);

}  // namespace sabath
