// One request by libcurl, in any of its protocols: the only door to that library. http/ and ftp/ stand on it.
//
// A Transport is shared by all fetchers and used by any number of threads; it keeps idle connections by origin.
// A fault of the peer or the network comes back as a Failure; an exception of the Receiver leaves perform() unchanged.
#pragma once

#include <chrono>
#include <cstddef>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/error.h"
#include "sabath/fetcher.h"
#include "sabath/url.h"

namespace sabath {

struct TransferRequest {
  const Url& url;                    // no other protocol than its scheme is spoken; judged by who named it
  std::vector<std::string> headers;  // "Name: value", without control bytes
  std::uint64_t resume_from = 0;     // for protocols that have no range header
  std::string method = {};           // instead of the protocol's own way to read: "PROPFIND", "POST", "MLSD"
  std::string body = {};             // sent with the request, if it is not empty
  bool one_of_many = false;          // a small one: it may share a connection with the others
  // Of the redirects so far, in libcurl's own words, which sends each only to its host. Cookies that the answer sets
  // are added.
  std::vector<std::string>* cookies = nullptr;
  bool unpack = false;  // what Content-Encoding says was done to the answer is undone
};

struct Connected {
  std::chrono::microseconds trip{};  // how long TCP took to open it; 0: it stood already
  Reach reach = Reach::global;       // of the host that is asked; behind a proxy: by its words
};

// Hears one transfer, on the thread that called perform() (connecting() and connected(): maybe on another, one at a
// time). Any function may throw: the transfer then ends.
class Receiver {
 public:
  virtual ~Receiver() = default;
  // A new connection begins to be opened. Not said where one stands already.
  virtual void connecting() {}
  // The connection stands, the request is about to be sent.
  virtual void connected(const Connected& connection) = 0;
  // One line that the server said, without its line end; the empty line that ends a head is heard too.
  virtual void header(std::string_view line) = 0;
  // Payload. False: enough, end the transfer here and call it good.
  [[nodiscard]] virtual bool body(std::span<const std::byte> bytes) = 0;
};

class Transport {
 public:
  explicit Transport(const FetcherSettings& settings);
  ~Transport();
  // nullopt: the whole answer was received, or the receiver had enough. A stop request ends it at once.
  [[nodiscard]] std::optional<Failure> perform(const TransferRequest& request, Receiver& receiver, Traffic& traffic,
                                               std::stop_token stop);
  // The header of a request to this origin: "Authorization: ...", or nothing. Never sent to where a redirect leads.
  [[nodiscard]] std::optional<Secret> authorization(const Url& url);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// RFC 9110 section 5.6.7, all three forms; nullopt if it is none.
[[nodiscard]] std::optional<std::time_t> parse_http_date(const std::string& text);

}  // namespace sabath
