// What the two sides of a call say to each other. Pure; any thread.
//
//   this side    sabath-job-call NONCE BYTES\n, and as many bytes of JSON; then its stream stays open until it is
//   answered the other    sabath-job-answer NONCE VERSION\n, then lines of JSON: {"tick":true}, {"message":"..."},
//                {"warning":"..."}, {"submitted":RECORD}, and last {"record":RECORD} or {"error":{...},"exit":N}
//
// The nonce tells the answer from what the other side's shell prints before it. The end of this side's stream is a
// stop request. Throws Error{invalid} for a call that is malformed, Error{command} for such an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.h"
#include "sabath/error.h"
#include "sabath/verbs/job.h"

namespace sabath {

inline constexpr unsigned call_version = 1;
inline constexpr std::size_t call_bytes_max = 32 << 20, call_head_bytes_max = 100;
inline constexpr std::size_t sent_recipes_max = 64, sent_lock_bytes_max = 16 << 20;

// The document of a recipe as the calling side has it.
struct SentRecipe {
  std::string role;        // the key of the request that named it: "model", "dataset", "from"; empty: a recipe needs it
  std::string kind, name;  // its file's folder is by the kind
  std::string digest;      // SHA-256 of the text
  std::string text;
};

struct HostCall {
  std::string version;  // of the SABATH that calls
  JsonValue request;    // an object; where a call is made, `request_text` is that
  std::string request_text;
  std::string subject;  // as its user calls the job; it is not sent
  std::vector<SentRecipe> recipes;
  std::optional<std::string> lock;  // the record of the run whose modules are loaded
};

struct CallHead {
  std::string nonce;
  std::size_t bytes = 0;
};

[[nodiscard]] std::string new_nonce();
[[nodiscard]] std::string text_of(const HostCall& call, const std::string& nonce);  // Error{usage}: it is too long
[[nodiscard]] CallHead parse_call_head(std::string_view line);                      // without the newline
[[nodiscard]] HostCall parse_host_call(std::string_view json);

[[nodiscard]] std::string answer_mark(const std::string& nonce);  // how the first line of an answer begins
[[nodiscard]] std::string answer_head(const std::string& nonce);  // that line

struct AnswerLine {
  enum class What : std::uint8_t { tick, message, warning, submitted, record, error } what = What::tick;
  std::string text;  // of a message or warning, printable
  JobRecord record;  // of the last two but one
  Failure failure;
  int exit = 0;
};
[[nodiscard]] AnswerLine parse_answer_line(std::string_view line);

}  // namespace sabath
