// The behaviour of each path of the fault server. Add a fault: one function, one line in the table at the end.

#include <fmt/format.h>

#include <map>

#include "support/fault_connection.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

constexpr std::uint64_t size_default = 100'000;
using Connection = FaultConnection;
using Request = FaultRequest;

std::uint64_t size_of(const Request& request) { return request.value("size", size_default); }

std::string length_field(std::uint64_t length) { return fmt::format("Content-Length: {}\r\n", length); }

std::string range_field(std::uint64_t first, std::uint64_t last, std::uint64_t total) {
  return fmt::format("Content-Range: bytes {}-{}/{}\r\n", first, last, total);
}

// A good server's answer, ranges and all, with `fields` added.
void send_well(Connection& c, const Request& r, const std::string& fields) {
  const std::uint64_t size = size_of(r);
  if (!r.range) {
    c.send_head("200 OK", fields + length_field(size));
    return c.send_body(r, 0, size);
  }
  const std::uint64_t first = r.range->first;
  if (first >= size)
    return c.send_head("416 Range Not Satisfiable",
                       fmt::format("Content-Range: bytes */{}\r\n{}", size, length_field(0)));
  const std::uint64_t last = std::min(r.range->second, size - 1);
  c.send_head("206 Partial Content", fields + range_field(first, last, size) + length_field(last - first + 1));
  c.send_body(r, first, last + 1);
}

void ok(Connection& c, const Request& r) { send_well(c, r, "Accept-Ranges: bytes\r\nETag: \"a\"\r\n"); }

void status_only(Connection& c, const std::string& status, const std::string& fields, const std::string& body) {
  c.send_head(status, fields + length_field(body.size()));
  c.send_text(body, true);
}

// --- bodies that do not keep their head's word ------------------------------------------------------------------
void half(Connection& c, const Request& r) {
  c.send_head("200 OK", length_field(size_of(r)));
  c.send_body(r, 0, size_of(r) / 2);
}
void trunc(Connection& c, const Request& r) { half(c, r), c.close(); }
void rst(Connection& c, const Request& r) { half(c, r), c.pause(100), c.reset(); }
void stall(Connection& c, const Request& r) { half(c, r), c.wait_for_client_to_leave(); }
// A few bytes, then what a client that has had enough never reads. It counts when it lies in the client's kernel.
void arrived(Connection& c, const Request& r) {
  const std::string body = seeded_bytes(r.value("seed", 1), 0, r.value("sent", 0));
  c.send_head("200 OK", length_field(size_of(r)));
  c.send_text(std::string_view(body).substr(0, 1000), false);
  c.pause(50);
  c.send_text(std::string_view(body).substr(1000), false);
  c.wait_until_arrived();
  c.count(body.size());
  c.wait_for_client_to_leave();
}
void silent(Connection& c, const Request&) { c.wait_for_client_to_leave(); }
void drop(Connection& c, const Request&) { c.close(); }
void closedelim(Connection& c, const Request& r) {
  c.send_head("200 OK", "Connection: close\r\n");
  c.send_body(r, 0, size_of(r));
  c.close();
}
void longer(Connection& c, const Request& r) {
  c.send_head("200 OK", length_field(size_of(r) / 2));
  c.send_body(r, 0, size_of(r));
}
void two_lengths(Connection& c, const Request& r) {
  c.send_head("200 OK", length_field(size_of(r)) + length_field(size_of(r) + 1));
  c.send_body(r, 0, size_of(r));
}
void chunked(Connection& c, const Request& r) {
  c.send_head("200 OK", "Transfer-Encoding: chunked\r\n");
  for (std::uint64_t at = 0; at < size_of(r) && c.open(); at += 10'000) {
    const std::uint64_t end = std::min<std::uint64_t>(at + 10'000, size_of(r));
    c.send_text(fmt::format("{:x}\r\n", end - at), false);
    c.send_body(r, at, end);
    c.send_text("\r\n", false);
    if (r.path.starts_with("/chunkcut")) return c.close();
  }
  c.send_text("0\r\nX-Trailer: after\r\n\r\n", false);
}
void slow(Connection& c, const Request& r) {
  c.send_head("200 OK", length_field(size_of(r)));
  for (std::uint64_t at = 0; at < size_of(r) && c.open(); at += r.value("step", 1)) {
    c.send_body(r, at, std::min(at + r.value("step", 1), size_of(r)));
    c.pause(r.value("ms", 50));
  }
}
void html(Connection& c, const Request&) {
  status_only(c, "200 OK", "Content-Type: text/html; charset=utf-8\r\n", "<!doctype html><title>Log in</title>");
}
void gzip(Connection& c, const Request& r) { send_well(c, r, "Content-Encoding: gzip\r\n"); }
void flip(Connection& c, const Request& r) { ok(c, r); }  // ?every= does it, in send_body

// --- ranges and versions ----------------------------------------------------------------------------------------
void norange(Connection& c, const Request& r) {
  Request whole = r;
  whole.range.reset();
  send_well(c, whole, "");
}
void send_part(Connection& c, const Request& r, const std::string& content_range) {
  if (!r.range) return ok(c, r);
  const std::uint64_t end = std::min(r.range->second, size_of(r) - 1) + 1;
  c.send_head("206 Partial Content", content_range + length_field(end - r.range->first));
  c.send_body(r, r.range->first, end);
}
void badrange(Connection& c, const Request& r) {
  if (!r.range) return ok(c, r);
  const std::uint64_t last = std::min(r.range->second, size_of(r) - 1);
  send_part(c, r, range_field(r.range->first + 1, last + 1, size_of(r) + 1));
}
void nocrange(Connection& c, const Request& r) { send_part(c, r, ""); }
void shortrange(Connection& c, const Request& r) {
  if (!r.range) return ok(c, r);
  c.send_head("206 Partial Content", range_field(r.range->first, r.range->first, size_of(r)) + length_field(1));
  c.send_body(r, r.range->first, r.range->first + 1);
}
void unasked_part(Connection& c, const Request& r) {
  c.send_head("206 Partial Content", range_field(0, 9, size_of(r)) + length_field(10));
  c.send_body(r, 0, 10);
}
void etag_changes(Connection& c, const Request& r) {
  send_well(c, r, fmt::format("Accept-Ranges: bytes\r\nETag: \"{}\"\r\n", r.number));
}

// --- statuses and redirects ---------------------------------------------------------------------------------------
void status(Connection& c, const Request& r) {  // /status/NNN?size= : an error with a body
  const std::string code = r.path.substr(r.path.rfind('/') + 1);
  c.send_head(code + " Said So", length_field(r.value("size", 10)));
  c.send_body(r, 0, r.value("size", 10));
}
void retry_after(Connection& c, const Request& r) {
  status_only(c, r.text("code", "503") + " Busy", fmt::format("Retry-After: {}\r\n", r.text("value", "2")), "");
}
void redirect(Connection& c, const Request& r) {
  status_only(c, r.text("code", "302") + " Found", fmt::format("Location: {}\r\n", r.text("to", "/ok")), "moved");
}
void loop(Connection& c, const Request&) { status_only(c, "302 Found", "Location: /loop2\r\n", ""); }
void loop2(Connection& c, const Request&) { status_only(c, "302 Found", "Location: /loop\r\n", ""); }
void endless(Connection& c, const Request& r) {
  status_only(c, "302 Found", fmt::format("Location: /endless?n={}\r\n", r.value("n", 0) + 1), "");
}
void ansi(Connection& c, const Request&) { status_only(c, "404 \x1b[31mowned\x07", "", ""); }
void headers_huge(Connection& c, const Request& r) {
  std::string fields;
  for (int i = 0; i < 100; ++i) fields += fmt::format("X-{}: {}\r\n", i, std::string(2000, 'a'));
  send_well(c, r, fields);
}
void early_hints(Connection& c, const Request& r) {
  c.send_head("103 Early Hints", "Content-Length: 7\r\nLocation: /elsewhere\r\n");
  ok(c, r);
}
void echo(Connection& c, const Request& r) { status_only(c, "200 OK", "", r.head); }

using Behaviour = void (*)(Connection&, const Request&);
const std::map<std::string, Behaviour, std::less<>> behaviours = {
    {"/ok", ok},
    {"/trunc", trunc},
    {"/rst", rst},
    {"/stall", stall},
    {"/arrived", arrived},
    {"/silent", silent},
    {"/drop", drop},
    {"/closedelim", closedelim},
    {"/long", longer},
    {"/2cl", two_lengths},
    {"/chunked", chunked},
    {"/chunkcut", chunked},
    {"/slow", slow},
    {"/html", html},
    {"/gzip", gzip},
    {"/flip", flip},
    {"/norange", norange},
    {"/badrange", badrange},
    {"/nocrange", nocrange},
    {"/shortrange", shortrange},
    {"/unasked", unasked_part},
    {"/etag-changes", etag_changes},
    {"/status", status},
    {"/retry-after", retry_after},
    {"/redirect", redirect},
    {"/loop", loop},
    {"/loop2", loop2},
    {"/endless", endless},
    {"/ansi", ansi},
    {"/headers-huge", headers_huge},
    {"/hints", early_hints},
    {"/echo", echo},
};

}  // namespace

// The first segment chooses: what follows it is free, so that two tests need not share a count.
void answer(FaultConnection& connection, const FaultRequest& request) {
  if (request.number > request.value("times", UINT64_MAX)) return ok(connection, request);
  const auto found = behaviours.find(request.path.substr(0, request.path.find('/', 1)));
  if (found == behaviours.end()) return status_only(connection, "404 Not Found", "", "no such fault");
  found->second(connection, request);
}

}  // namespace sabath::test
