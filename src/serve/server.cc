#include "serve/server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "serve/content.h"
#include "serve/listener.h"
#include "serve/reply.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t head_size_max = 16 * 1024;  // of a request
constexpr std::size_t piece_size = 256 * 1024;    // of an answer not sent by sendfile

// Takes the same time for every wrong token: it compares hashes of equal length, to the end.
bool equal(const Secret& token, std::string_view offered) {
  const auto a = sha256(token.reveal()).bytes(), b = sha256(offered).bytes();
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

std::string_view header(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

int socket_of(MHD_Connection* connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

std::int64_t now_ms() { return unix_time<std::chrono::milliseconds>(); }

struct Answer {
  int status = 200;
  std::uint64_t body_bytes = 0;
};

// One request and its answer.
struct Exchange {
  AccessEntry access;
  Clock::time_point begin = Clock::now();
};

// Content on its way through a buffer: over TLS, or with a bounded rate.
struct Pieces {
  ServedContent content;
  std::uint64_t offset = 0, rate_max = 0;
  const std::atomic<bool>& ending;
  Clock::time_point begin = Clock::now();
};

ssize_t read_piece(void* self, std::uint64_t position, char* buffer, std::size_t size) noexcept {
  auto& pieces = *static_cast<Pieces*>(self);
  if (pieces.rate_max > 0) {
    size = std::min<std::size_t>(size, std::max<std::uint64_t>(pieces.rate_max / 20, 1));
    const auto due = pieces.begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                                        static_cast<double>(position) / static_cast<double>(pieces.rate_max)));
    while (!pieces.ending && Clock::now() < due) {
      std::this_thread::sleep_for(std::min<Clock::duration>(due - Clock::now(), std::chrono::milliseconds(50)));
    }
    if (pieces.ending) return MHD_CONTENT_READER_END_WITH_ERROR;
  }
  const ssize_t got = ::pread(pieces.content.file.get(), buffer, size, static_cast<off_t>(pieces.offset + position));
  return got > 0 ? got : MHD_CONTENT_READER_END_WITH_ERROR;
}

void free_pieces(void* self) noexcept { delete static_cast<Pieces*>(self); }

MHD_Response* text_response(const std::string& body) {
  return MHD_create_response_from_buffer(body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_MUST_COPY);
}

class Response {
 public:
  explicit Response(MHD_Response* response) : response_(response) {
    if (response_ == nullptr) throw Error(FailureKind::internal, "cannot make an answer: out of memory");
  }
  ~Response() { MHD_destroy_response(response_); }
  Response(const Response&) = delete;
  Response& operator=(const Response&) = delete;
  void add(const char* name, const std::string& value) { MHD_add_response_header(response_, name, value.c_str()); }
  [[nodiscard]] MHD_Response* get() const noexcept { return response_; }

 private:
  MHD_Response* response_;
};

struct Daemon {
  Store& store;
  ServeSettings settings;
  Server::OnAccess on_access;
  Connections connections;
  std::mutex log_mutex{};
  std::atomic<bool> ending{false};
  std::uint16_t port = 0;
  MHD_Daemon* daemon = nullptr;

  void start();
  void stop();
  [[nodiscard]] bool allowed(MHD_Connection* connection) const;
  [[nodiscard]] Answer answer(MHD_Connection* connection, const char* path, std::string_view method, bool has_body);
  [[nodiscard]] Answer send(MHD_Connection* connection, ServedContent content);
  [[nodiscard]] Answer refuse(MHD_Connection* connection, int status, std::string_view why, const char* field = nullptr,
                              const char* value = nullptr);
  [[nodiscard]] std::unique_ptr<Exchange> begin(MHD_Connection* connection, const char* path, const char* method);
  void finish(MHD_Connection* connection, Exchange& exchange, const char* path, bool has_body);
  void note(MHD_Connection* connection, const Exchange& exchange, bool cut);

  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* path, const char* method,
                               const char* version, const char* upload, std::size_t* upload_size, void** exchange);
  static void on_completed(void* self, MHD_Connection* connection, void** exchange, MHD_RequestTerminationCode how);
  static void on_connection(void* self, MHD_Connection* connection, void** context,
                            MHD_ConnectionNotificationCode what);
};

bool Daemon::allowed(MHD_Connection* connection) const {
  if (settings.token.empty()) return true;
  std::string_view value = header(connection, "Authorization");
  if (!value.starts_with("Bearer ")) return false;
  value.remove_prefix(7);
  return equal(settings.token, value);
}

Answer Daemon::refuse(MHD_Connection* connection, int status, std::string_view why, const char* field,
                      const char* value) {
  const std::string body = fmt::format("{{\"error\":\"{}\"}}\n", why);
  Response response(text_response(body));
  response.add("Content-Type", "application/json");
  if (field != nullptr) response.add(field, value);
  MHD_queue_response(connection, static_cast<unsigned>(status), response.get());
  return {status, body.size()};
}

Answer Daemon::answer(MHD_Connection* connection, const char* path, std::string_view method, bool has_body) {
  if (method != "GET" && method != "HEAD")
    return refuse(connection, 405, "this source is read-only", "Allow", "GET, HEAD");
  if (has_body) return refuse(connection, 413, "a request has no body here", "Connection", "close");
  if (!allowed(connection)) return refuse(connection, 401, "a token is needed", "WWW-Authenticate", "Bearer");
  const auto target = try_parse_target(path);
  if (!target) return refuse(connection, 404, "no such path");
  if (target->kind == Target::Kind::about) {
    const std::string body = "{\"server\":\"sabath\",\"version\":\"" SABATH_VERSION "\",\"protocol\":1}\n";
    Response response(text_response(body));
    response.add("Content-Type", "application/json");
    MHD_queue_response(connection, 200, response.get());
    return {200, body.size()};
  }
  auto content = open_content(store, *target);
  if (!content) return refuse(connection, 404, "not in this store");
  return send(connection, std::move(*content));
}

Answer Daemon::send(MHD_Connection* connection, ServedContent content) {
  const Conditions conditions{header(connection, "Range"), header(connection, "If-Match"),
                              header(connection, "If-None-Match"), header(connection, "If-Range")};
  const std::uint64_t size = content.size_bytes;
  const std::string etag = content.etag;
  const Reply reply = reply_to(conditions, size, etag);
  MHD_Response* raw = nullptr;
  if (reply.length == 0) {
    raw = MHD_create_response_from_buffer(0, nullptr, MHD_RESPMEM_PERSISTENT);
  } else if (!content.file) {
    raw = MHD_create_response_from_buffer(reply.length, content.bytes.data() + reply.offset, MHD_RESPMEM_MUST_COPY);
  } else if (settings.certificate.empty() && settings.rate_max == 0) {
    raw = MHD_create_response_from_fd_at_offset64(reply.length, content.file.release(), reply.offset);  // it closes it
  } else {
    raw = MHD_create_response_from_callback(reply.length, piece_size, read_piece,
                                            new Pieces{std::move(content), reply.offset, settings.rate_max, ending},
                                            free_pieces);
  }
  Response response(raw);
  response.add("ETag", etag);
  response.add("Accept-Ranges", "bytes");
  response.add("Content-Type", "application/octet-stream");
  response.add("X-Content-Type-Options", "nosniff");
  response.add("Cache-Control", settings.token.empty() ? "public, max-age=31536000, immutable" : "private");
  if (reply.status == 206 || reply.status == 416) response.add("Content-Range", content_range(reply, size));
  MHD_queue_response(connection, static_cast<unsigned>(reply.status), response.get());
  return {reply.status, reply.length};
}

void Daemon::note(MHD_Connection* connection, const Exchange& exchange, bool cut) {
  AccessEntry access = exchange.access;
  access.cut = cut;
  access.seconds = std::chrono::duration<double>(Clock::now() - exchange.begin).count();
  if (cut) access.bytes = std::min(access.bytes, connections.acknowledged(socket_of(connection)));
  const std::lock_guard lock(log_mutex);
  if (on_access) on_access(access);
}

// The library calls this when the head has been read, and again when a body would come. A request with a body is
// answered at the first call, which closes the connection; others at the second, which keeps it.
MHD_Result Daemon::on_request(void* self, MHD_Connection* connection, const char* path, const char* method, const char*,
                              const char*, std::size_t* upload_size, void** exchange) {
  auto& state = *static_cast<Daemon*>(self);
  try {
    const std::string_view length = header(connection, "Content-Length");
    const bool has_body = (!length.empty() && length != "0") || !header(connection, "Transfer-Encoding").empty();
    if (*exchange == nullptr) {
      *exchange = state.begin(connection, path, method).release();
      if (!has_body) return MHD_YES;
    } else if (has_body || *upload_size != 0) {
      *upload_size = 0;
      return MHD_YES;
    }
    state.finish(connection, *static_cast<Exchange*>(*exchange), path, has_body);
    return MHD_YES;
  } catch (...) {
    return MHD_NO;  // out of memory: the connection is closed
  }
}

std::unique_ptr<Exchange> Daemon::begin(MHD_Connection* connection, const char* path, const char* method) {
  const int socket = socket_of(connection);
  connections.working(socket);
  auto exchange = std::make_unique<Exchange>();
  exchange->access.time_ms = now_ms();
  exchange->access.client = peer_of(socket);
  exchange->access.method = method;
  exchange->access.path = path;
  return exchange;
}

void Daemon::finish(MHD_Connection* connection, Exchange& exchange, const char* path, bool has_body) {
  AccessEntry& access = exchange.access;
  Answer given;
  try {
    given = answer(connection, path, access.method, has_body);
  } catch (const Error& error) {  // the store's disk, mostly: the client may ask another source
    given = refuse(connection, 503, name(error.failure().kind));
  }
  access.status = given.status;
  access.bytes = access.method == "HEAD" ? 0 : given.body_bytes;
  connections.answering(socket_of(connection));
}

void Daemon::on_completed(void* self, MHD_Connection* connection, void** exchange, MHD_RequestTerminationCode how) {
  auto& state = *static_cast<Daemon*>(self);
  const std::unique_ptr<Exchange> own(static_cast<Exchange*>(*exchange));
  *exchange = nullptr;
  try {
    if (own) state.note(connection, *own, how != MHD_REQUEST_TERMINATED_COMPLETED_OK);
  } catch (...) {  // a log that cannot be written must not end the answers
  }
  state.connections.waiting(socket_of(connection));
}

void Daemon::on_connection(void* self, MHD_Connection* connection, void**, MHD_ConnectionNotificationCode what) {
  auto& state = *static_cast<Daemon*>(self);
  const int socket = socket_of(connection);
  if (what == MHD_CONNECTION_NOTIFY_STARTED)
    state.connections.opened(socket);
  else
    state.connections.closed(socket);
}

void Daemon::start() {
  Fd listener = listen_at(settings.host, settings.port);
  port = port_of(listener);
  const bool tls = !settings.certificate.empty();
  const std::string key(settings.key.reveal());
  unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC;
  std::vector<MHD_OptionItem> options{
      {MHD_OPTION_LISTEN_SOCKET, listener.get(), nullptr},
      {MHD_OPTION_CONNECTION_LIMIT, static_cast<std::intptr_t>(settings.connections_max), nullptr},
      {MHD_OPTION_PER_IP_CONNECTION_LIMIT, static_cast<std::intptr_t>(settings.connections_per_address_max), nullptr},
      {MHD_OPTION_CONNECTION_MEMORY_LIMIT, static_cast<std::intptr_t>(2 * head_size_max), nullptr},
      {MHD_OPTION_STRICT_FOR_CLIENT, 1, nullptr},
      {MHD_OPTION_NOTIFY_COMPLETED, reinterpret_cast<std::intptr_t>(&Daemon::on_completed), this},
      {MHD_OPTION_NOTIFY_CONNECTION, reinterpret_cast<std::intptr_t>(&Daemon::on_connection), this},
  };
  if (tls) {
    flags |= MHD_USE_TLS;
    options.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, const_cast<char*>(key.c_str())});
    options.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, const_cast<char*>(settings.certificate.c_str())});
    options.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0, const_cast<char*>("NORMAL:-VERS-TLS1.0:-VERS-TLS1.1")});
  }
  options.push_back({MHD_OPTION_END, 0, nullptr});
  daemon = MHD_start_daemon(flags, 0, nullptr, nullptr, &Daemon::on_request, this, MHD_OPTION_ARRAY, options.data(),
                            MHD_OPTION_END);
  if (daemon == nullptr) {
    throw Error(tls ? FailureKind::usage : FailureKind::internal,
                tls ? "cannot start the server with this certificate and key" : "cannot start the HTTP server",
                tls ? "both must be PEM and belong to each other: `openssl x509 -in CERT -noout -text`" : "");
  }
  listener.release();  // the daemon closes it
}

void Daemon::stop() {
  ending = true;
  if (daemon != nullptr) MHD_stop_daemon(std::exchange(daemon, nullptr));
}

class DaemonServer final : public Server {
 public:
  DaemonServer(Store& store, const ServeSettings& settings, OnAccess on_access)
      : daemon_{store, settings, std::move(on_access), Connections(settings.deadlines)} {
    daemon_.start();
  }
  ~DaemonServer() override { daemon_.stop(); }

  std::uint16_t port() const noexcept override { return daemon_.port; }

  bool drain(std::chrono::milliseconds limit) override {
    const Fd listener(MHD_quiesce_daemon(daemon_.daemon));
    return daemon_.connections.wait_until_idle(limit);
  }

 private:
  Daemon daemon_;
};

}  // namespace

std::unique_ptr<Server> make_server(Store& store, const ServeSettings& settings, Server::OnAccess on_access) {
  if (settings.certificate.empty() != settings.key.empty()) {
    throw Error(FailureKind::usage, "TLS needs a certificate and its key, not one of them");
  }
  return std::make_unique<DaemonServer>(store, settings, std::move(on_access));
}

}  // namespace sabath
