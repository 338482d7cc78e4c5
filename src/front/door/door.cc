// The C interface of include/sabath/sabath.h: sessions and files as handles, requests and records as text.
#include "sabath/sabath.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/json_reader.h"
#include "base/threads.h"
#include "base/wording.h"
#include "sabath/asset_file.h"
#include "sabath/configuration.h"
#include "sabath/dealing.h"
#include "sabath/environment.h"
#include "sabath/error.h"
#include "sabath/event.h"
#include "sabath/session.h"
#include "verbs/verb.h"

using sabath::Failure;
using sabath::FailureKind;

struct sabath_asset {
  sabath::OpenAsset asset;
};

struct sabath_file {
  sabath::AssetFile file;
};

// A Session serves one thread at a time: each call takes one of its own, and leaves it for the next call.
struct sabath_session final : sabath::EventSink {
  explicit sabath_session(sabath::Configuration given) : configuration(std::move(given)) {}

  std::unique_ptr<sabath::Session> take() {
    {
      const std::lock_guard lock(mutex);
      ++calls;
      if (!idle.empty()) {
        auto session = std::move(idle.back());
        idle.pop_back();
        return session;
      }
    }
    return std::make_unique<sabath::Session>(configuration.session);
  }
  void give(std::unique_ptr<sabath::Session> session) {
    const std::lock_guard lock(mutex);
    if (session) idle.push_back(std::move(session));
    if (--calls == 0) changed.notify_all();
  }
  std::stop_token token() {
    const std::lock_guard lock(mutex);
    return stop_source.get_token();
  }
  void stop() {
    std::stop_source old;
    {
      const std::lock_guard lock(mutex);
      std::swap(old, stop_source);
    }
    old.request_stop();  // what it calls may need the mutex
  }
  void end() {
    stop();
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return calls == 0; });
  }
  void on(const sabath::Event& event) override {
    sabath_listener hears = nullptr;
    void* user = nullptr;
    {
      const std::lock_guard lock(mutex);
      hears = listener;
      user = listeners_user;
      if (hears == nullptr) return;
      ++hearing;
    }
    const sabath_session* const outer = std::exchange(heard_here, this);
    hears(user, sabath::to_json(event).c_str());
    heard_here = outer;
    const std::lock_guard lock(mutex);
    if (--hearing == 0) changed.notify_all();
  }
  // Afterwards the former listener is not called any more; but a listener that calls this does not wait for itself.
  void listen(sabath_listener now, void* user) {
    std::unique_lock lock(mutex);
    listener = now;
    listeners_user = user;
    if (heard_here != this) changed.wait(lock, [this] { return hearing == 0; });
  }

  const sabath::Configuration configuration;
  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  std::vector<std::unique_ptr<sabath::Session>> idle;
  unsigned calls = 0, hearing = 0;
  std::stop_source stop_source;
  sabath_listener listener = nullptr;
  void* listeners_user = nullptr;
  static thread_local const sabath_session* heard_here;  // whose listener this thread is in
};
thread_local const sabath_session* sabath_session::heard_here = nullptr;

namespace {

char* copy_of(const std::string& text) noexcept {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

void tell(char** error, const Failure& failure) noexcept {
  if (error == nullptr) return;
  try {
    *error = copy_of(sabath::text_of(sabath::failure_record(failure, exit_code(failure.kind))));
  } catch (...) {
    *error = nullptr;  // there is no memory to say so
  }
}

// Returns what `work` returns; if it throws, `otherwise`, with the reason in `error`.
template <typename T, typename Work>
T guarded(char** error, T otherwise, Work&& work) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    return work();
  } catch (const sabath::Error& failed) {
    tell(error, failed.failure());
  } catch (const std::exception& failed) {
    tell(error, {FailureKind::internal, failed.what(), "", std::nullopt});
  } catch (...) {
    tell(error, {FailureKind::internal, "what was thrown has no name", "", std::nullopt});
  }
  return otherwise;
}

const char* checked(const char* text, const char* what) {
  if (text == nullptr) throw sabath::Error(FailureKind::usage, std::string(what) + " is NULL", "");
  return text;
}

sabath_session& checked(sabath_session* session) {
  if (session == nullptr) throw sabath::Error(FailureKind::usage, "the session is NULL", "sabath_open() makes one");
  return *session;
}

const sabath::OpenAsset& checked(const sabath_asset* asset) {
  if (asset == nullptr) throw sabath::Error(FailureKind::usage, "the asset is NULL", "sabath_asset_open() opens one");
  return asset->asset;
}

sabath::Json record_of(const sabath::OpenAsset& asset) {
  std::map<std::string, std::size_t> numbers;
  sabath::Json files = sabath::Json::array(), places = sabath::Json::array();
  for (const sabath::PlacedFile& each : asset.files()) {
    sabath::Json file{{"path", each.path}, {"size", each.digest.size_bytes}, {"digest", each.digest.hash.prefixed()}};
    file["place"] = nullptr;
    file["offset"] = nullptr;
    if (each.place) {
      const auto [number, is_new] = numbers.try_emplace(each.place->file.string(), numbers.size());
      if (is_new) places.push_back(number->first);
      file["place"] = number->second;
      file["offset"] = each.place->offset;
    }
    files.push_back(std::move(file));
  }
  return {{"schema", 1}, {"manifest", asset.manifest()}, {"places", std::move(places)}, {"files", std::move(files)}};
}

// One call's session, given back when it ends.
class Call {
 public:
  explicit Call(sabath_session& of) : of_(of), stop_(of.token()) {
    try {
      session_ = of.take();
    } catch (...) {
      of.give(nullptr);
      throw;
    }
  }
  ~Call() { of_.give(std::move(session_)); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  [[nodiscard]] sabath::Session& session() { return *session_; }
  [[nodiscard]] const std::stop_token& stop() const { return stop_; }

 private:
  sabath_session& of_;
  const sabath::WritesFail writes_fail_{};  // a peer that hangs up must not end the caller
  const std::stop_token stop_;
  std::unique_ptr<sabath::Session> session_;
};

const sabath::LibraryVerb& verb_named(const std::string& name) {
  const auto verbs = sabath::library_verbs();
  const auto found = std::ranges::find(verbs, name, &sabath::LibraryVerb::name);
  if (found != verbs.end()) return *found;
  const std::string now(sabath::renamed_verb(name));
  throw sabath::Error(FailureKind::usage, "there is no verb \"" + name.substr(0, 100) + "\"",
                      now.empty() ? "sabath_verbs() lists them" : "its name is \"" + now + "\" now");
}

}  // namespace

const char* sabath_version() { return SABATH_VERSION; }

char* sabath_verbs() {
  return guarded<char*>(nullptr, nullptr, [] {
    sabath::Json names = sabath::Json::array();
    for (const auto& verb : sabath::library_verbs()) names.push_back(verb.name);
    return copy_of(sabath::text_of(names));
  });
}

sabath_session* sabath_open(const char* settings, char** error) {
  return guarded<sabath_session*>(error, nullptr, [&] {
    sabath::ConfigurationSources sources;
    sources.settings = settings == nullptr ? "{}" : settings;
    return new sabath_session(sabath::load_configuration(sources, sabath::Environment::of_process()));
  });
}

void sabath_close(sabath_session* session) {
  if (session == nullptr) return;
  session->end();
  delete session;
}

void sabath_listen(sabath_session* session, sabath_listener listener, void* user) {
  if (session != nullptr) session->listen(listener, user);
}

char* sabath_call(sabath_session* session, const char* verb, const char* request, char** error) {
  return guarded<char*>(error, nullptr, [&] {
    Call call(checked(session));
    const sabath::LibraryVerb& named = verb_named(checked(verb, "the verb"));
    const sabath::JsonValue value =
        sabath::parse_json(request == nullptr ? "{}" : request, "request", {}, FailureKind::usage);
    sabath::JsonObject object(value, "request", "a request", FailureKind::usage);
    const bool of_session = named.name == "config" && object.members().empty();  // its own settings
    if (of_session) return copy_of(sabath::to_json(session->configuration));
    return copy_of(sabath::text_of(named.call(call.session(), object, *session, call.stop())));
  });
}

void sabath_stop(sabath_session* session) {
  if (session != nullptr) session->stop();
}

void sabath_free(char* text) { std::free(text); }

sabath_file* sabath_file_open(sabath_session* session, const char* asset, const char* path, char** error) {
  return guarded<sabath_file*>(error, nullptr, [&] {
    Call call(checked(session));
    return new sabath_file{{call.session(), checked(asset, "the asset"), checked(path, "the path")}};
  });
}

int64_t sabath_file_size(const sabath_file* file) {
  return file == nullptr ? -1 : static_cast<std::int64_t>(file->file.size_bytes());
}

int64_t sabath_file_read(const sabath_file* file, uint64_t offset, void* room, size_t length, char** error) {
  return guarded<std::int64_t>(error, -1, [&] {
    if (file == nullptr || (room == nullptr && length > 0))
      throw sabath::Error(FailureKind::usage, "the file or the buffer is NULL", "");
    return static_cast<std::int64_t>(file->file.read(offset, std::span(static_cast<std::byte*>(room), length)));
  });
}

const char* sabath_file_place(const sabath_file* file, uint64_t* offset) {
  if (file == nullptr || !file->file.place()) return nullptr;
  if (offset != nullptr) *offset = file->file.place()->offset;
  return file->file.place()->file.c_str();
}

void sabath_file_close(sabath_file* file) { delete file; }

sabath_asset* sabath_asset_open(sabath_session* session, const char* asset, char** error) {
  return guarded<sabath_asset*>(error, nullptr, [&] {
    Call call(checked(session));
    return new sabath_asset{{call.session(), checked(asset, "the asset")}};
  });
}

char* sabath_asset_files(const sabath_asset* asset, char** error) {
  return guarded<char*>(error, nullptr, [&] { return copy_of(sabath::text_of(record_of(checked(asset)))); });
}

sabath_file* sabath_asset_file(const sabath_asset* asset, const char* path, char** error) {
  return guarded<sabath_file*>(error, nullptr, [&] {
    return new sabath_file{{checked(asset), checked(path, "the path")}};
  });
}

void sabath_asset_close(sabath_asset* asset) { delete asset; }

int sabath_deal(const char* paths, size_t count, uint64_t seed, uint32_t shares, uint32_t* share_of, char** error) {
  return guarded<int>(error, -1, [&] {
    if (count > 0 && (paths == nullptr || share_of == nullptr))
      throw sabath::Error(FailureKind::usage, "the paths or the shares are NULL", "");
    std::vector<std::string> names;
    names.reserve(count);
    for (std::size_t i = 0; i < count; ++i) paths += names.emplace_back(paths).size() + 1;
    std::ranges::copy(sabath::deal(names, seed, shares), share_of);
    return 0;
  });
}
