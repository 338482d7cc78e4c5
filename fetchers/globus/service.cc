#include "globus/service.h"

#include <fmt/format.h>

#include "base/percent.h"
#include "http/document.h"

namespace sabath::globus {
namespace {

constexpr std::size_t page_entries = 100'000;

}  // namespace

Service::Service(const GlobusSettings& settings, std::shared_ptr<Transport> transport)
    : api_(Url::parse(settings.api.empty() ? "https://transfer.api.globus.org/v0.10" : settings.api)),
      transport_(std::move(transport)) {}

Document Service::ask(const std::string& call, const Caller& caller, const std::string& body) const {
  if (!transport_->authorization(api_)) {
    throw Error(FailureKind::access, fmt::format("{}: there is no token for {}", caller.what, api_.origin()),
                "name a file or a program in `tokens` that has one with the scope "
                "urn:globus:auth:scope:transfer.api.globus.org:all (docs/globus.md)");
  }
  Question question{.url = Url::parse(api_.text() + call),
                    .headers = {"Accept: application/json"},
                    .body = body,
                    .accept = {200, 202, 400, 401, 403, 404, 409, 502}};
  if (!body.empty()) question.headers.emplace_back("Content-Type: application/json");
  Document answer = sabath::ask(*transport_, question, caller.traffic, caller.stop);
  if (answer.status >= 400) throw Error(refusal(answer.status, answer.body, caller.what, api_.origin()));
  return answer;
}

std::optional<Url> Service::https_server(const std::string& collection, const Caller& caller) const {
  const Document answer = ask("/endpoint/" + collection, caller);
  const auto server = parse_https_server(answer.body, api_.origin());
  return server ? std::optional(answer.names(*server)) : std::nullopt;
}

FileFacts Service::stat(const Place& place, const Caller& caller) const {
  const std::string call =
      fmt::format("/operation/endpoint/{}/stat?path={}", place.collection, percent_encode(place.path));
  return parse_file(ask(call, caller).body, place.path);
}

Page Service::list(const Place& directory, std::size_t offset, const Caller& caller) const {
  const std::string call = fmt::format("/operation/endpoint/{}/ls?path={}&orderby=name&limit={}&offset={}",
                                       directory.collection, percent_encode(directory.path), page_entries, offset);
  return parse_page(ask(call, caller).body, api_.origin(), page_entries);
}

std::string Service::new_submission(const Caller& caller) const {
  return parse_submission_id(ask("/submission_id", caller).body, api_.origin());
}

std::string Service::submit(const Delivery& delivery, const Caller& caller) const {
  return parse_task_id(ask("/transfer", caller, transfer_document(delivery)).body, api_.origin());
}

Task Service::task(const std::string& task_id, const Caller& caller) const {
  return parse_task(ask("/task/" + task_id, caller).body, api_.origin());
}

void Service::cancel(const std::string& task_id, const Caller& caller) const {
  static_cast<void>(ask(fmt::format("/task/{}/cancel", task_id), caller, "{}"));
}

}  // namespace sabath::globus
