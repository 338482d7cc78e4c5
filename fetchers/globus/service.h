// The calls of Globus's Transfer API that a read needs, each one blocking request. Any thread. Throws Error: what the
// service refuses as `access` with what to do (a token, a consent, a login), what is not there as `unavailable`.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "curl/transport.h"
#include "globus/words.h"
#include "sabath/credentials.h"

namespace sabath::globus {

// One read's or listing's way to ask: what it is called in messages, and who counts and stops it.
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
  [[nodiscard]] std::string ask(const std::string& call, const Caller& caller, const std::string& body = {}) const;
  const Url api_;
  const std::shared_ptr<Transport> transport_;
};

}  // namespace sabath::globus
