// The calls of Globus's Transfer API that a read needs, each one blocking request. Any thread. Throws Error:
// `access` for a refusal, with what to do (a token, a consent, a login), `unavailable` for a file that is not there.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "curl/transport.h"
#include "globus/words.h"
#include "http/document.h"
#include "sabath/credentials.h"

namespace sabath::globus {

// The caller of a request, a read or a listing: its name in messages, its counter and its stop.
struct Caller {
  std::string what;  // "cannot read globus://..."
  Traffic& traffic;
  std::stop_token stop;
};

class Service {
 public:
  Service(const GlobusSettings& settings, std::shared_ptr<Transport> transport);
  [[nodiscard]] std::optional<Url> https_server(const std::string& collection, const Caller& caller) const;
  [[nodiscard]] FileFacts stat(const Place& place, const Caller& caller) const;
  [[nodiscard]] Page list(const Place& directory, std::size_t offset, const Caller& caller) const;
  [[nodiscard]] std::string new_submission(const Caller& caller) const;
  // The task's identifier: of a new one, or of the one that this submission began earlier.
  [[nodiscard]] std::string submit(const Delivery& delivery, const Caller& caller) const;
  [[nodiscard]] Task task(const std::string& task_id, const Caller& caller) const;
  void cancel(const std::string& task_id, const Caller& caller) const;
  [[nodiscard]] const Url& url() const noexcept { return api_; }

 private:
  [[nodiscard]] Document ask(const std::string& call, const Caller& caller, const std::string& body = {}) const;
  const Url api_;
  const std::shared_ptr<Transport> transport_;
};

}  // namespace sabath::globus
