// Many small requests of one server on few connections, as streams of HTTP/2: each connection is driven by a thread of
// its own, and a request blocks its caller as any other does. A server that turns out to speak HTTP/1.1 alone is
// remembered, and asked in the ordinary way. Only files of this folder include it. Any thread.
#pragma once

#include <curl/curl.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "curl/mailbox.h"
#include "curl/transfer.h"

namespace sabath {

class Streams {
 public:
  Streams();
  ~Streams();  // no request is under way
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // False where it is known that requests gain nothing by it.
  [[nodiscard]] bool serves(const Url& url);

  // Runs a transfer that is prepared to share, and whose receiver is `mailbox`, until it is done (its result), or was
  // ended by us or stalled (nullopt). Throws what the mailbox's receiver throws.
  [[nodiscard]] std::optional<CURLcode> run(Transfer& transfer, Mailbox& mailbox);

 private:
  class Line;
  struct Origin {
    bool alone = false;  // it speaks HTTP/1.1
    std::vector<std::unique_ptr<Line>> lines;
  };
  [[nodiscard]] Line& take_line(const std::string& origin);
  void give_back(const std::string& origin, Line& line, bool alone);

  const bool built_;  // libcurl speaks HTTP/2
  std::mutex mutex_;
  std::map<std::string, Origin> origins_;
};

}  // namespace sabath
