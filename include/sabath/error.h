// Failures as values, and the one exception that carries them.
//
// A Failure says what was attempted, on what, what came back, and what to do next. Its kind, from a closed
// list, decides whether a retry makes sense and which exit code the process ends with (docs/exit-codes.md).
// Per-file and per-chunk failures are data; Error is thrown only where the caller cannot go on.
#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace sabath {

enum class FailureKind {
  usage,        // the command line or an API argument is wrong
  not_found,    // no such recipe or asset
  access,       // 401, 403, login page, licence, unknown host key
  space,        // no bytes, no inodes, quota, file-size limit
  network,      // transient: reset, timeout, truncation, 5xx, 429
  unavailable,  // this source will not have it: 404, 410, TLS, DNS, unsupported scheme
  no_ranges,    // the source ignored a byte range; it can still be read from its start
  changed,      // the source's content is no longer the one that was begun
  content,      // wrong length or wrong hash
  partial,      // some done, some not, for different reasons
  offline,      // not present, and the network may not be used
  nodes,        // some nodes failed
  command,      // a launched command failed
  invalid,      // malformed or hostile recipe, manifest, list, archive
  storage,      // the operating system refused a file operation (EIO, EACCES, EROFS)
  interrupted,  // SIGINT
  terminated,   // SIGTERM, SIGHUP
  internal,     // a defect of SABATH itself
};

// The process exit code of a kind: the table of docs/exit-codes.md.
[[nodiscard]] int exit_code(FailureKind kind) noexcept;

// The kind's name as JSON records print it: "not_found", "network", ...
[[nodiscard]] std::string_view name(FailureKind kind) noexcept;

struct Failure {
  FailureKind kind = FailureKind::internal;
  std::string message;                                   // one line, no secrets, control bytes escaped
  std::string hint;                                      // what to do next; may be empty
  std::optional<std::chrono::milliseconds> retry_after;  // what the server asked for; 0: for fewer of us

  friend bool operator==(const Failure&, const Failure&) = default;
};

class Error : public std::exception {
 public:
  explicit Error(Failure failure) : failure_(std::move(failure)) {}
  Error(FailureKind kind, std::string message, std::string hint = {})
      : failure_{kind, std::move(message), std::move(hint), std::nullopt} {}
  [[nodiscard]] const Failure& failure() const noexcept { return failure_; }
  [[nodiscard]] const char* what() const noexcept override { return failure_.message.c_str(); }

 private:
  Failure failure_;
};

}  // namespace sabath
