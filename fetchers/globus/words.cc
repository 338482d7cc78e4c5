#include "globus/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "base/text.h"
#include "sabath/path.h"

namespace sabath::globus {
namespace {

constexpr JsonLimits page_limits = {64UL << 20, 8, 3'000'000};

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : std::string_view("0123456789abcdef").find(text[i]) == std::string_view::npos)
      return false;
  }
  return true;
}

// A text that may be absent, empty, or of another type: then it says nothing.
std::string said(JsonObject& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  const auto* text = value == nullptr ? nullptr : value->get<std::string>();
  return text == nullptr ? "" : *text;
}

std::string identifier(JsonObject& object, std::string_view key) {
  std::string text = to_lower(object.text(key));
  if (!is_uuid(text)) object.fail(key, "is no identifier of Globus");
  return text;
}

// A scope is shown so that its reader can paste it into a shell: nothing else may pass.
bool is_scope(std::string_view text) {
  return !text.empty() && text.size() <= 2048 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(":/._-*[]").find(c) != std::string_view::npos;
  });
}

std::string scopes_of(JsonObject& error) {
  std::string text;
  const JsonValue::Array* scopes = error.try_array("required_scopes");
  if (scopes == nullptr) return text;
  for (const JsonValue& scope : *scopes) {
    const auto* one = scope.get<std::string>();
    if (one != nullptr && is_scope(*one)) text += fmt::format(" '{}'", *one);
  }
  return text;
}

FailureKind kind_of(int status) {
  if (status == 401 || status == 403) return FailureKind::access;
  return status >= 500 ? FailureKind::network : FailureKind::unavailable;
}

std::string hint_of(int status, const std::string& code, JsonObject& error, const std::string& api) {
  if (const std::string scopes = scopes_of(error); !scopes.empty() || code == "ConsentRequired") {
    return scopes.empty()
               ? "consent once at https://app.globus.org by opening the collection, then get a new token"
               : fmt::format("consent once by `globus session consent{}`, then get a new token for {}", scopes, api);
  }
  if (error.find("authorization_parameters") != nullptr)
    return "the collection wants another login: `globus session update`, then get a new token for " + api;
  if (status == 401)
    return fmt::format("the token for {} is not accepted, or has expired: renew what `tokens` names for it", api);
  if (status == 403) return "ask the collection's owner for permission";
  if (status == 404) return "check the collection's identifier and the path at https://app.globus.org/file-manager";
  return status >= 500 ? "its endpoint may be out of order: see https://status.globus.org" : "";
}

}  // namespace

Place parse_place(const Url& url) {
  Place place{url.host(), percent_decode(url.path())};
  const auto refuse = [&](const char* why) {
    throw Error(FailureKind::unavailable, fmt::format("cannot read {}: {}", url.display(), why),
                "write globus://COLLECTION/path, where COLLECTION is its identifier");
  };
  if (!is_uuid(place.collection) || url.port()) refuse("it names no collection");
  if (!place.path.starts_with('/')) refuse("it names no path");
  for (std::size_t i = 0; i < place.path.size(); ++i) {
    if (begins_with_control(std::string_view(place.path).substr(i))) refuse("its path holds control characters");
  }
  return place;
}

std::optional<Url> parse_https_server(std::string_view text, std::string_view source) {
  const JsonValue document = parse_json(text, source);
  JsonObject collection(document, source, "a collection");
  const std::string server = said(collection, "https_server");
  if (server.empty()) return std::nullopt;
  const auto url = Url::try_parse(server.find("://") == server.npos ? "https://" + server : server);
  if (!url || url->scheme() != "https" || !url->query().empty())
    collection.fail("https_server", fmt::format("is no place: \"{}\"", printable(server)));
  return url;
}

FileFacts parse_file(std::string_view text, std::string_view source) {
  const JsonValue document = parse_json(text, source);
  JsonObject file(document, source, "a file");
  if (file.text("type") != "file") {
    throw Error(FailureKind::unavailable, fmt::format("{} is no file, but a {}", source, printable(said(file, "type"))),
                "name a file, or a directory by a '/' at its end");
  }
  const auto size = file.try_uint("size");
  if (!size) file.fail("size", "is missing");
  return {*size, fmt::format("{}/{}", said(file, "last_modified"), *size)};
}

Page parse_page(std::string_view text, std::string_view source, std::size_t entries_asked) {
  const JsonValue document = parse_json(text, source, page_limits);
  JsonObject listing(document, source, "a listing");
  Page page;
  const JsonValue::Array* entries = listing.try_array("DATA");
  if (entries == nullptr) listing.fail("DATA", "is missing");
  for (const JsonValue& value : *entries) {
    JsonObject entry(value, source, "an entry");
    const std::string type = entry.text("type");
    if (type != "file" && type != "dir") continue;  // links and devices cannot be transferred
    page.entries.push_back({name_in(entry, "name"), type == "dir", std::nullopt});
    if (type == "file") page.entries.back().size_bytes = entry.try_uint("size");
  }
  page.listed = entries->size();
  const JsonValue* next = listing.find("has_next_page");
  const bool* says = next == nullptr ? nullptr : next->get<bool>();
  page.more = !entries->empty() && (says != nullptr ? *says : entries->size() >= entries_asked);
  return page;
}

std::string parse_submission_id(std::string_view text, std::string_view source) {
  const JsonValue document = parse_json(text, source);
  JsonObject answer(document, source, "a submission");
  return identifier(answer, "value");
}

std::string parse_task_id(std::string_view text, std::string_view source) {
  const JsonValue document = parse_json(text, source);
  JsonObject answer(document, source, "an accepted task");
  return identifier(answer, "task_id");
}

Task parse_task(std::string_view text, std::string_view source) {
  const JsonValue document = parse_json(text, source);
  JsonObject answer(document, source, "a task");
  Task task;
  const std::string status = answer.text("status");
  if (status == "ACTIVE") {
    task.state = Task::State::active;
  } else if (status == "INACTIVE") {
    task.state = Task::State::inactive;
  } else if (status == "SUCCEEDED") {
    task.state = Task::State::succeeded;
  } else if (status == "FAILED") {
    task.state = Task::State::failed;
  } else {
    answer.fail("status", fmt::format("is unknown: {}", printable(status)));
  }
  task.progress = answer.try_uint("bytes_transferred").value_or(0) + answer.try_uint("files_transferred").value_or(0);
  task.code = said(answer, "nice_status");
  task.words = said(answer, "nice_status_short_description");
  if (auto fatal = answer.try_object("fatal_error", "a fatal error")) {
    task.code = said(*fatal, "code");
    task.words = said(*fatal, "description");
  }
  return task;
}

std::string transfer_document(const Delivery& delivery) {
  const nlohmann::json item = {{"DATA_TYPE", "transfer_item"},
                               {"source_path", delivery.from.path},
                               {"destination_path", delivery.to.path},
                               {"recursive", false}};
  const nlohmann::json document = {{"DATA_TYPE", "transfer"},
                                   {"submission_id", delivery.submission_id},
                                   {"source_endpoint", delivery.from.collection},
                                   {"destination_endpoint", delivery.to.collection},
                                   {"label", "sabath"},
                                   {"verify_checksum", true},
                                   {"fail_on_quota_errors", true},
                                   {"skip_source_errors", false},
                                   {"DATA", nlohmann::json::array({item})}};
  return document.dump();
}

Failure refusal(int status, std::string_view body, const std::string& what, const std::string& api) {
  Failure failure{kind_of(status), fmt::format("{}: HTTP {}", what, status), "", std::nullopt};
  try {
    const JsonValue document = parse_json(body, what);
    JsonObject error(document, what, "an error");
    const std::string code = said(error, "code");
    if (code == "ConsentRequired" || code.ends_with("PermissionDenied")) failure.kind = FailureKind::access;
    if (code.ends_with("NotFound")) failure.kind = FailureKind::unavailable;
    failure.message = fmt::format("{}: {}: {}", what, printable(code, 80), printable(said(error, "message"), 300));
    failure.hint = hint_of(failure.kind == FailureKind::access && status != 401 ? 403 : status, code, error, api);
  } catch (const Error&) {  // not in the API's own words: its status stands
  }
  return failure;
}

bool is_hopeless(const Task& task) {
  return task.state == Task::State::active && (task.code == "PERMISSION_DENIED" || task.code == "FILE_NOT_FOUND");
}

Failure failure_of(const Task& task, const std::string& task_id, const std::string& what) {
  const std::string page = "https://app.globus.org/activity/" + task_id;
  const std::string words = printable(task.words.empty() ? task.code : task.words, 300);
  if (task.state == Task::State::inactive) {
    return {FailureKind::access, fmt::format("{}: Globus waits for its user: {}", what, words),
            fmt::format("log in at {}; then run this again: the transfer goes on", page), std::nullopt};
  }
  const FailureKind kind = task.code == "PERMISSION_DENIED"               ? FailureKind::access
                           : task.code.find("QUOTA") != std::string::npos ? FailureKind::space
                                                                          : FailureKind::unavailable;
  return {kind, fmt::format("{}: Globus could not deliver it: {}: {}", what, printable(task.code, 80), words),
          "what happened is at " + page, std::nullopt};
}

}  // namespace sabath::globus
