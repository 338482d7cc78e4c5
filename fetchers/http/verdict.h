// The meaning of a response for the read that asked for it: a pure function, tested from a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "curl/transport.h"
#include "http/response_head.h"
#include "sabath/error.h"
#include "sabath/fetcher.h"

namespace sabath {

struct AnswerVerdict {
  enum class Action { deliver, redirect, refuse };
  Action action = Action::refuse;
  ContentInfo info;                     // deliver: final_url is left to the caller
  std::optional<std::uint64_t> wanted;  // deliver: bytes of the body that the sink must get; nullopt: as many as come
  Failure failure;                      // refuse
};

// The request's own headers for one hop. They are made anew for each hop, so that a server learns nothing of another.
[[nodiscard]] std::vector<std::string> headers_for(const ReadRequest& request);
// The request to `url`, without credentials: the fetcher that has them adds them.
[[nodiscard]] TransferRequest transfer_for(const Url& url, const ReadRequest& request);

// True if the request is sent with a Range header: then only 206 may answer an offset.
// Of a request that had a login with it.
inline constexpr std::string_view refused_login_hint =
    "a login was sent, and refused: correct the token of this host in SABATH_TOKEN or `tokens` of the configuration, "
    "or "
    "its line in ~/.netrc (docs/credentials.md)";

[[nodiscard]] bool asks_range(const ReadRequest& request);

// For an answer that is packed for the way, where the caller cannot unpack it.
[[nodiscard]] Failure refused_coding(const ResponseHead& head, const std::string& source);

// Of several hints of a refused login the most specific: a redirect's from `asked` to `at`, then the fetcher's own,
// then that of the status. Other failures come back as they are: a proxy's login is not the server's.
[[nodiscard]] Failure refused_access(Failure failure, int status, const Url& asked, const Url& at,
                                     std::string_view access_hint);

// `source` is the name of the source for messages, `now` seconds since 1970 for a Retry-After that is a date.
[[nodiscard]] AnswerVerdict judge(const ReadRequest& request, const ResponseHead& head, const std::string& source,
                                  std::int64_t now);

}  // namespace sabath
