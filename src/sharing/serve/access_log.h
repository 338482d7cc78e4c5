// One line for each request, and for each connection that brought none: docs/serving.md, "The log". Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace sabath {

struct AccessEntry {
  enum class Ending {
    ok,
    cut,      // the connection ended before the answer did
    broken,   // what came was no whole request
    silent,   // no whole request came in time
    refused,  // the client had too many connections
  };
  std::int64_t time_ms = 0;  // since 1970, when the request had been read
  std::string client;        // address:port
  std::string method, path;  // as the client wrote them: shown escaped
  int status = 0;            // 0: there was no request to answer
  std::uint64_t bytes = 0;   // of the body, that the answer promised; of a cut one, that the client acknowledged
  Ending ending = Ending::ok;
  double seconds = 0;
};

// "2026-11-21T12:30:34.123Z 127.0.0.1:4242 GET /v1/objects/... 206 4194304 0.012 ok", without a line end.
[[nodiscard]] std::string to_line(const AccessEntry& access);

}  // namespace sabath
