// The answers of Globus's Transfer API (v0.10), and the documents sent to it, as values. Pure; any thread.
// The parsers throw Error{invalid} for a malformed answer: `source` names it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resolvers/directory.h"
#include "sabath/error.h"
#include "sabath/url.h"

namespace sabath::globus {

struct Place {
  std::string collection;  // a UUID
  std::string path;        // decoded, begins with '/'
};
// Throws Error{unavailable} for what names no collection, and for paths with control characters.
[[nodiscard]] Place parse_place(const Url& url);

struct FileFacts {
  std::uint64_t size_bytes = 0;
  std::string version;  // time and size: what tells one version from another
};

struct Page {
  std::vector<DirectoryEntry> entries;
  std::size_t listed = 0;  // those that are passed over, too
  bool more = false;
};

struct Task {
  enum class State { active, inactive, succeeded, failed };
  State state = State::active;
  std::uint64_t progress = 0;  // bytes and files so far: it grows while something happens
  std::string code;            // of what troubles it: "PERMISSION_DENIED"
  std::string words;           // that, for people
};

struct Delivery {  // one file, from where to where
  Place from, to;
  std::string submission_id;
};

[[nodiscard]] std::optional<Url> parse_https_server(std::string_view text, std::string_view source);  // nullopt: none
[[nodiscard]] FileFacts parse_file(std::string_view text, std::string_view source);  // Error{unavailable}: no file
[[nodiscard]] Page parse_page(std::string_view text, std::string_view source, std::size_t entries_asked);
[[nodiscard]] std::string parse_submission_id(std::string_view text, std::string_view source);
[[nodiscard]] std::string parse_task_id(std::string_view text, std::string_view source);
[[nodiscard]] Task parse_task(std::string_view text, std::string_view source);
[[nodiscard]] std::string transfer_document(const Delivery& delivery);  // the same words for the same delivery

// The failure that an unsuccessful answer means. `what` begins the message; `api` is the origin whose token was used.
[[nodiscard]] Failure refusal(int status, std::string_view body, const std::string& what, const std::string& api);
// Why a task that has ended, or cannot go on, did so.
[[nodiscard]] Failure failure_of(const Task& task, const std::string& task_id, const std::string& what);
// True if waiting will not mend it.
[[nodiscard]] bool is_hopeless(const Task& task);

}  // namespace sabath::globus
