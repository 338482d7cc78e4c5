#include "serve/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <sys/socket.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "hub/hub_target.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "serve/content.h"
#include "serve/hub_source.h"
#include "serve/listener.h"
#include "serve/reply.h"
#include "serve/request.h"
#include "serve/response.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t memory_max = 32 * 1024, older_max = 8;  // of a connection; daemons that only end
constexpr unsigned ending_max = 1024;  // connections that were put out, until their threads have seen it

std::int64_t now_ms() { return unix_time<std::chrono::milliseconds>(); }

struct Answer {
  int status = 200;
  std::uint64_t body_bytes = 0;
};

// One request and its answer, from the request's first line on.
struct Exchange {
  AccessEntry access;
  RequestHead head;
  Clock::time_point begin = Clock::now();
  bool begun = false;  // the head has been read
  bool has_body = false;
};

struct Daemon {
  Daemon(Store& its_store, const ServeSettings& its_settings, Server::OnAccess its_log)
      : store(its_store),
        settings(its_settings),
        hub(its_settings.hub ? std::make_unique<HubSource>(its_store, its_settings.allow) : nullptr),
        token(its_settings.token),
        on_access(std::move(its_log)),
        connections(its_settings.places, its_settings.deadlines, !its_settings.certificate.empty()) {}

  Store& store;
  const ServeSettings settings;
  const std::unique_ptr<HubSource> hub;  // nullptr: it is none
  const bool tls = !settings.certificate.empty(), by_token = !settings.token.empty();
  mutable std::mutex token_mutex;
  Secret token;
  Server::OnAccess on_access;
  Connections connections;
  std::mutex log_mutex;
  std::atomic<bool> ending{false};
  Fd listener;
  std::atomic<MHD_Daemon*> daemon{nullptr};
  std::vector<MHD_Daemon*> older;  // began with an earlier certificate; each only ends what it has begun

  [[nodiscard]] MHD_Daemon* start(const std::string& certificate, const Secret& key);
  void renew(const Secret& new_token, const std::string& certificate, const Secret& key);
  bool drain(std::chrono::milliseconds limit);
  void stop();
  [[nodiscard]] bool allowed(MHD_Connection* connection) const;
  [[nodiscard]] Answer answer(MHD_Connection* connection, const char* path, const Exchange& exchange);
  [[nodiscard]] Answer answer_hub(MHD_Connection* connection, const HubTarget& target, const RequestHead& head);
  [[nodiscard]] Answer send(MHD_Connection* connection, const RequestHead& head, ServedContent content,
                            const HubAnswer* of_hub = nullptr);
  [[nodiscard]] Answer refuse(MHD_Connection* connection, const Refusal& refusal);
  void queue(MHD_Connection* connection, int status, Response& response) const;
  void begin(MHD_Connection* connection, Exchange& exchange, const char* version, const char* method);
  void finish(MHD_Connection* connection, Exchange& exchange, const char* path);
  void note(MHD_Connection* connection, const Exchange& exchange, AccessEntry::Ending how);
  void note(AccessEntry access, AccessEntry::Ending how);

  static MHD_Result on_client(void* self, const sockaddr* address, socklen_t size);
  static void* on_first_line(void* self, const char* path, MHD_Connection* connection);
  static std::size_t as_written(void* self, MHD_Connection* connection, char* path);
  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* path, const char* method,
                               const char* version, const char* upload, std::size_t* upload_size, void** exchange);
  static void on_completed(void* self, MHD_Connection* connection, void** exchange, MHD_RequestTerminationCode how);
  static void on_connection(void* self, MHD_Connection* connection, void** context,
                            MHD_ConnectionNotificationCode what);
};

bool Daemon::allowed(MHD_Connection* connection) const {
  if (!by_token) return true;
  std::string_view value = header(connection, "Authorization");
  if (!value.starts_with("Bearer ")) return false;
  value.remove_prefix(7);
  const std::lock_guard lock(token_mutex);
  return equal(token, value);
}

// A connection that began with an earlier certificate ends with this answer.
void Daemon::queue(MHD_Connection* connection, int status, Response& response) const {
  if (MHD_get_connection_info(connection, MHD_CONNECTION_INFO_DAEMON)->daemon != daemon)
    response.add("Connection", "close");
  MHD_queue_response(connection, static_cast<unsigned>(status), response.get());
}

Answer Daemon::refuse(MHD_Connection* connection, const Refusal& refusal) {
  const std::string body = fmt::format("{{\"error\":\"{}\"}}\n", refusal.why);
  Response response(text_response(body));
  response.add("Content-Type", "application/json");
  if (refusal.field != nullptr) response.add(refusal.field, refusal.value);
  queue(connection, refusal.status, response);
  return {refusal.status, body.size()};
}

Answer Daemon::answer(MHD_Connection* connection, const char* path, const Exchange& exchange) {
  if (const auto refusal = refusal_of(connection, exchange.head)) return refuse(connection, *refusal);
  if (!allowed(connection)) return refuse(connection, {401, "a token is needed", "WWW-Authenticate", "Bearer"});
  connections.known(socket_of(connection));
  const std::string asked_path(split_target(path).path);
  const auto target = try_parse_target(asked_path);
  if (hub != nullptr && !target)
    if (const auto asked = try_parse_hub_target(asked_path)) return answer_hub(connection, *asked, exchange.head);
  if (!target) return refuse(connection, {404, "no such path"});
  if (target->kind == Target::Kind::about) {
    const std::string body = "{\"server\":\"sabath\",\"version\":\"" SABATH_VERSION "\",\"protocol\":1}\n";
    Response response(text_response(body));
    response.add("Content-Type", "application/json");
    queue(connection, 200, response);
    return {200, body.size()};
  }
  auto content = open_content(store, *target);
  if (!content) return refuse(connection, {404, "not in this store"});
  return send(connection, exchange.head, std::move(*content));
}

Answer Daemon::answer_hub(MHD_Connection* connection, const HubTarget& target, const RequestHead& head) {
  HubAnswer given = hub->answer(target, hub_query_of(connection, head.target, tls));
  if (given.content) {
    ServedContent content = std::move(*given.content);
    return send(connection, head, std::move(content), &given);
  }
  Response response(text_response(given.body));
  response.add("Content-Type", "application/json");
  response.add("Cache-Control", "no-cache");
  for (const auto& [name, value] : given.fields) response.add(name, value);
  queue(connection, given.status, response);
  return {given.status, given.body.size()};
}

Answer Daemon::send(MHD_Connection* connection, const RequestHead& head, ServedContent content,
                    const HubAnswer* of_hub) {
  const std::uint64_t size = content.size_bytes;
  const std::string etag = content.etag;
  const Reply reply = reply_to(conditions_of(connection, head.method), size, etag);
  const Reply body = reply.status == 304 ? Reply{200, 0, size} : reply;  // it is not sent, but its length is said
  Response response(
      content_response(std::move(content), body, tls || settings.rate_max > 0, settings.rate_max, ending));
  response.add("ETag", etag);
  response.add("Accept-Ranges", "bytes");
  response.add("Content-Type", "application/octet-stream");
  response.add("X-Content-Type-Options", "nosniff");
  const bool lasting = of_hub == nullptr || of_hub->lasting;
  response.add("Cache-Control", !lasting ? "no-cache" : by_token ? "private" : "public, max-age=31536000, immutable");
  if (of_hub != nullptr)
    for (const auto& [name, value] : of_hub->fields) response.add(name, value);
  if (reply.status == 206 || reply.status == 416) response.add("Content-Range", content_range(reply, size));
  queue(connection, reply.status, response);
  return {reply.status, reply.length};
}

void Daemon::note(AccessEntry access, AccessEntry::Ending how) {
  access.ending = how;
  const std::lock_guard lock(log_mutex);
  if (on_access) on_access(access);
}

void Daemon::note(MHD_Connection* connection, const Exchange& exchange, AccessEntry::Ending how) {
  AccessEntry access = exchange.access;
  access.seconds = std::chrono::duration<double>(Clock::now() - exchange.begin).count();
  if (how == AccessEntry::Ending::cut)
    access.bytes = std::min(access.bytes, connections.acknowledged(socket_of(connection)));
  note(std::move(access), how);
}

MHD_Result Daemon::on_client(void* self, const sockaddr* address, socklen_t size) {
  auto& state = *static_cast<Daemon*>(self);
  try {
    AccessEntry access{.time_ms = now_ms(), .client = text_of(address, size), .method = {}, .path = {}};
    if (state.connections.make_place(access.client)) return MHD_YES;
    state.note(std::move(access), AccessEntry::Ending::refused);
  } catch (...) {  // out of memory: no place for one more
  }
  return MHD_NO;
}

void* Daemon::on_first_line(void*, const char* path, MHD_Connection* connection) {
  try {
    auto exchange = std::make_unique<Exchange>();
    exchange->access.time_ms = now_ms();
    exchange->access.client = peer_of(socket_of(connection));
    exchange->access.path = path;
    exchange->head.target = path;
    exchange->head.target_end = path + std::string_view(path).size();
    return exchange.release();
  } catch (...) {
    return nullptr;
  }
}

// No name that this server knows has an escape: a path stays as it was written, so %00 ends none.
std::size_t Daemon::as_written(void*, MHD_Connection*, char* path) { return std::string_view(path).size(); }

// The library calls this when the head has been read, and again when a body would come. A request with a body is
// answered at the first call, which closes the connection; others at the second, which keeps it.
MHD_Result Daemon::on_request(void* self, MHD_Connection* connection, const char* path, const char* method,
                              const char* version, const char*, std::size_t* upload_size, void** context) {
  auto& state = *static_cast<Daemon*>(self);
  try {
    if (*context == nullptr) return MHD_NO;
    auto& exchange = *static_cast<Exchange*>(*context);
    if (!exchange.begun) {
      state.begin(connection, exchange, version, method);
      if (!exchange.has_body) return MHD_YES;
    } else if (exchange.has_body || *upload_size != 0) {
      *upload_size = 0;
      return MHD_YES;
    }
    state.finish(connection, exchange, path);
    return MHD_YES;
  } catch (...) {
    return MHD_NO;  // out of memory: the connection is closed
  }
}

// The version stands behind the path, unless a NUL ended the path before it.
void Daemon::begin(MHD_Connection* connection, Exchange& exchange, const char* version, const char* method) {
  connections.working(socket_of(connection));
  RequestHead& head = exchange.head;
  exchange.begun = true;
  head.whole = version == head.target_end + 1 && head.target.find("%00") == std::string::npos;
  head.method = method;
  exchange.has_body = has_body(connection);
  exchange.access.time_ms = now_ms();
  exchange.access.method = method;
  exchange.begin = Clock::now();
}

void Daemon::finish(MHD_Connection* connection, Exchange& exchange, const char* path) {
  AccessEntry& access = exchange.access;
  Answer given;
  try {
    given = answer(connection, path, exchange);
  } catch (const Error& error) {  // the store's disk, mostly: the client may ask another source
    given = refuse(connection, {503, name(error.failure().kind)});
  }
  access.status = given.status;
  if (hub != nullptr) access.path.resize(std::min(access.path.find('?'), access.path.size()));  // it may hold a key
  access.bytes = access.method == "HEAD" ? 0 : given.body_bytes;
  connections.answering(socket_of(connection));
}

void Daemon::on_completed(void* self, MHD_Connection* connection, void** context, MHD_RequestTerminationCode how) {
  using enum AccessEntry::Ending;
  auto& state = *static_cast<Daemon*>(self);
  const std::unique_ptr<Exchange> exchange(static_cast<Exchange*>(*context));
  *context = nullptr;
  try {
    if (exchange && !exchange->begun) {
      state.connections.working(socket_of(connection));  // what has come has its line
      state.note(connection, *exchange, broken);
      return;
    }
    if (exchange) state.note(connection, *exchange, how == MHD_REQUEST_TERMINATED_COMPLETED_OK ? ok : cut);
  } catch (...) {  // a log that cannot be written must not end the answers
  }
  if (!exchange || !exchange->has_body) state.connections.waiting(socket_of(connection));
}

void Daemon::on_connection(void* self, MHD_Connection* connection, void**, MHD_ConnectionNotificationCode what) {
  auto& state = *static_cast<Daemon*>(self);
  const int socket = socket_of(connection);
  try {
    if (what == MHD_CONNECTION_NOTIFY_STARTED) return state.connections.opened(socket, peer_of(socket));
    Connections::Closed closed = state.connections.closed(socket);
    if (closed.rest == Connections::Rest::nothing) return;
    state.note({.time_ms = now_ms(),
                .client = std::move(closed.client),
                .method = {},
                .path = {},
                .seconds = closed.waited.count()},
               closed.rest == Connections::Rest::silent ? AccessEntry::Ending::silent : AccessEntry::Ending::broken);
  } catch (...) {  // as above
  }
}

MHD_Daemon* Daemon::start(const std::string& certificate, const Secret& secret_key) {
  const int socket = ::fcntl(listener.get(), F_DUPFD_CLOEXEC, 0);  // the library closes it, also if it cannot start
  if (socket < 0) throw_errno("listen once more at", settings.host, errno);
  const std::string key(secret_key.reveal());
  unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC;
  std::vector<MHD_OptionItem> options{
      {MHD_OPTION_LISTEN_SOCKET, socket, nullptr},
      {MHD_OPTION_CONNECTION_LIMIT, static_cast<std::intptr_t>(settings.places.all + ending_max), nullptr},
      {MHD_OPTION_CONNECTION_MEMORY_LIMIT, static_cast<std::intptr_t>(memory_max), nullptr},
      {MHD_OPTION_STRICT_FOR_CLIENT, 1, nullptr},
      {MHD_OPTION_NOTIFY_COMPLETED, reinterpret_cast<std::intptr_t>(&Daemon::on_completed), this},
      {MHD_OPTION_NOTIFY_CONNECTION, reinterpret_cast<std::intptr_t>(&Daemon::on_connection), this},
      {MHD_OPTION_URI_LOG_CALLBACK, reinterpret_cast<std::intptr_t>(&Daemon::on_first_line), this},
      {MHD_OPTION_UNESCAPE_CALLBACK, reinterpret_cast<std::intptr_t>(&Daemon::as_written), this},
  };
  if (tls) {
    flags |= MHD_USE_TLS;
    options.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, const_cast<char*>(key.c_str())});
    options.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, const_cast<char*>(certificate.c_str())});
    options.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0, const_cast<char*>("NORMAL:-VERS-TLS1.0:-VERS-TLS1.1")});
  }
  options.push_back({MHD_OPTION_END, 0, nullptr});
  MHD_Daemon* started = MHD_start_daemon(flags, 0, &Daemon::on_client, this, &Daemon::on_request, this,
                                         MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END);
  if (started == nullptr) {
    throw Error(tls ? FailureKind::usage : FailureKind::internal,
                tls ? "cannot start the server with this certificate and key" : "cannot start the HTTP server",
                tls ? "both must be PEM and belong to each other: `openssl x509 -in CERT -noout -text`" : "");
  }
  return started;
}

// A certificate belongs to a daemon of the library: a new one takes the new connections of the same socket.
void Daemon::renew(const Secret& new_token, const std::string& certificate, const Secret& key) {
  if (tls) {
    MHD_Daemon* earlier = daemon.exchange(start(certificate, key));
    const Fd no_more_clients(MHD_quiesce_daemon(earlier));
    older.push_back(earlier);
  }
  std::size_t too_many = older.size() > older_max ? older.size() - older_max : 0;
  std::erase_if(older, [&](MHD_Daemon* each) {
    const bool done = MHD_get_daemon_info(each, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections == 0;
    if (!done && too_many == 0) return false;
    too_many -= too_many > 0 ? 1 : 0;
    MHD_stop_daemon(each);
    return true;
  });
  const std::lock_guard lock(token_mutex);
  token = new_token;
}

bool Daemon::drain(std::chrono::milliseconds limit) {
  connections.close();
  listener.reset();
  const Fd no_more_clients(MHD_quiesce_daemon(daemon));
  return connections.wait_until_idle(limit);
}

void Daemon::stop() {
  ending = true;
  connections.close();
  for (MHD_Daemon* each : older) MHD_stop_daemon(each);
  if (MHD_Daemon* last = daemon.exchange(nullptr)) MHD_stop_daemon(last);
}

class DaemonServer final : public Server {
 public:
  DaemonServer(Store& store, const ServeSettings& settings, OnAccess on_access)
      : daemon_(store, settings, std::move(on_access)) {
    daemon_.listener = listen_at(settings.host, settings.port);
    port_ = port_of(daemon_.listener);
    daemon_.daemon = daemon_.start(settings.certificate, settings.key);
  }
  ~DaemonServer() override { daemon_.stop(); }

  std::uint16_t port() const noexcept override { return port_; }
  void renew(const Secret& token, const std::string& certificate, const Secret& key) override {
    daemon_.renew(token, certificate, key);
  }
  bool drain(std::chrono::milliseconds limit) override { return daemon_.drain(limit); }
  std::size_t hub_repositories() override { return daemon_.hub ? daemon_.hub->repositories() : 0; }

 private:
  Daemon daemon_;
  std::uint16_t port_ = 0;
};

}  // namespace

std::unique_ptr<Server> make_server(Store& store, const ServeSettings& settings, Server::OnAccess on_access) {
  if (settings.certificate.empty() != settings.key.empty()) {
    throw Error(FailureKind::usage, "TLS needs a certificate and its key, not one of them");
  }
  if (!settings.certificate.empty()) require_tls();
  return std::make_unique<DaemonServer>(store, settings, std::move(on_access));
}

}  // namespace sabath
