// The fetcher contract: how bytes of one source are moved. fetchers/README.md shows how to write one.
//
// A fetcher writes the bytes [offset, offset + length) of one source into a sink, or throws Error. As with pread, a
// range is cut at the source's end, may be empty there, and is an error beyond it; length 0 asks for the facts alone.
// It has no retries, no sleeps, no logging, no knowledge of the store. One object serves many lanes at once: read() is
// thread-safe and keeps idle connections for the next call. A stop request ends read() within a second by
// Error{interrupted}.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/credentials.h"
#include "sabath/recipe.h"
#include "sabath/traffic.h"
#include "sabath/url.h"

namespace sabath {

// Marks that tell one version of a source from another. Empty: the source does not say.
struct Validators {
  std::string etag;           // strong or weak, as the server wrote it
  std::string last_modified;  // HTTP-date, or another opaque text of the protocol
  [[nodiscard]] bool empty() const { return etag.empty() && last_modified.empty(); }
  friend bool operator==(const Validators&, const Validators&) = default;
};

// Servers pack what they send, unpack what they store, and name what is packed anyway as packed for the way
// (Content-Encoding). Only a checksum can say which of these bytes are the file.
enum class Coding {
  plain,     // anything else is refused
  any,       // the bytes as they come; the answer names what was done to them
  unpacked,  // what is named as packed is unpacked
  stored,    // as the server stores it, packed or not
};

struct ReadRequest {
  Url url;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // nullopt: to the end
  Validators expected;                  // not empty: throw Error{changed} if the source has another version
  bool one_of_many = false;             // small ones of the same server: they may share its connections
  Coding coding = Coding::plain;
};

struct ContentInfo {
  std::optional<std::uint64_t> size_bytes;  // of the whole source, when it says so
  bool ranges = false;                      // later reads may start anywhere
  Validators validators;
  std::string content_type;                          // lower case, without parameters; empty if unknown
  std::string final_url;                             // after redirects, without query
  std::optional<std::chrono::milliseconds> pause{};  // the server wants no request before: its quota is used up
  bool shared = false;  // it came by a connection that others share: one more request costs the server no connection
  // Of this answer alone, where a connection cost a login before; 0: as the caller has measured it.
  std::chrono::duration<double> latency{0};
  std::string encoding{};            // "gzip": the bytes are named as packed for the way; with Coding::any
  bool unpacked_on_the_way = false;  // the server stores them packed
  // The source's own word, which is compared where nothing else proves the content: of the whole (Repr-Digest, a hub's
  // ETag), and of the bytes of this answer (Content-Digest).
  Checksums said{}, said_of_answer{};
  std::optional<Reach> reach{};  // of the farthest host on the way; nullopt: not known. What it names is no nearer
};

class Sink {
 public:
  virtual ~Sink() = default;
  // A connection begins to be opened: the host's name is known, and its first packet is on the way.
  virtual void connecting() {}
  // A connection stands, and the answer is awaited: opening it took so long, a round trip. 0: it stood before.
  virtual void connected(std::chrono::microseconds /*trip*/) {}
  // Once, before the first byte and also for an empty body. May throw to refuse the transfer.
  virtual void begin(const ContentInfo& info) = 0;
  // Bytes in order. May throw to end the transfer.
  virtual void write(std::span<const std::byte> bytes) = 0;
};

struct Scheme {
  std::string name;       // "https"
  bool built = false;     // false: known, but not in this build
  bool ranges = false;    // byte ranges where the server has them
  bool resolver = false;  // can list
  bool command = false;   // done by an external program
  std::string by{};       // its description's name
};

class Fetcher {
 public:
  virtual ~Fetcher() = default;
  [[nodiscard]] virtual std::vector<Scheme> schemes() const = 0;
  virtual void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) = 0;
  // Where a connection costs a login: opens one that the next read of this host may use. Throws as read() does.
  virtual void warm_up(const Url& /*url*/, std::stop_token /*stop*/) {}
  // Where this user's settings lead the URL: an endpoint, a host behind an alias. Two places are two sources, although
  // the URL is the same. Empty: the URL says all. Sends nothing. Throws as read() does for settings without sense.
  [[nodiscard]] virtual std::string place(const Url& /*url*/) const { return ""; }
};

class Resolver;  // sabath/resolver.h

struct FetcherSettings {
  std::string user_agent;  // "sabath/0.1"
  std::string ca_file;     // PEM bundle; empty: the system's
  long connect_timeout_ms = 20'000;
  long stall_timeout_ms = 30'000;  // no byte for so long: Error{network}
  SshSettings ssh{};
  S3Settings s3{};
  HubSettings hub{};
  RegistrySettings registries{};
  WebSettings web{};
  CommandSettings commands{};
  GlobusSettings globus{};
  // Asked before a local file is read on behalf of a recipe; it throws where that must not be. `url` names it.
  std::function<void(const std::filesystem::path& file, const Url& url)> admit{};
  std::vector<std::shared_ptr<Fetcher>> more{};  // of the program that uses the library; they come before ours
};

// The fetchers of this build, and which one serves a scheme.
class FetcherSet {
 public:
  virtual ~FetcherSet() = default;
  // nullptr if no fetcher of this build knows the scheme.
  [[nodiscard]] virtual Fetcher* find(std::string_view scheme) const = 0;
  [[nodiscard]] virtual std::vector<Scheme> schemes() const = 0;  // known ones too, built or not
  // The resolver that turns this URL into a list of files; nullptr: it is the URL of a single file.
  [[nodiscard]] virtual Resolver* resolver_for(const Url&) const { return nullptr; }
  // As Fetcher::place of the fetcher that serves the scheme.
  [[nodiscard]] virtual std::string place(const Url&) const { return ""; }
  // For a program that asks the URL's host, and can be told where that is: "HOST:PORT:ADDRESS,ADDRESS", judged as for
  // our own requests. Empty: the host is an address itself, or a proxy asks. Throws Error{unavailable}.
  [[nodiscard]] virtual std::string addresses_of(const Url&, const std::stop_token&) const { return {}; }
  // The same for a program that cannot be told an address: throws unless the user, or a setting, names the host.
  virtual void admit_program(const Url&) const {}
};

[[nodiscard]] std::unique_ptr<FetcherSet> make_fetchers(const FetcherSettings& settings);

}  // namespace sabath
