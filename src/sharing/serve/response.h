// What libmicrohttpd sends, owned: an answer's fields and its body. One thread at a time. Throws Error{internal} if
// there is no memory for it.
#pragma once

#include <microhttpd.h>

#include <atomic>
#include <string>

#include "serve/content.h"
#include "serve/reply.h"

namespace sabath {

class Response {
 public:
  explicit Response(MHD_Response* response);
  ~Response() { MHD_destroy_response(response_); }
  Response(const Response&) = delete;
  Response& operator=(const Response&) = delete;
  void add(const char* name, const std::string& value) { MHD_add_response_header(response_, name, value.c_str()); }
  [[nodiscard]] MHD_Response* get() const noexcept { return response_; }

 private:
  MHD_Response* response_;
};

[[nodiscard]] MHD_Response* text_response(const std::string& body);

// The part of `content` that `reply` names: by sendfile(2), or with `through` by way of a buffer, at rate_max bytes a
// second if that is not 0, and until `ending`.
[[nodiscard]] MHD_Response* content_response(ServedContent content, const Reply& reply, bool through,
                                             std::uint64_t rate_max, const std::atomic<bool>& ending);

}  // namespace sabath
