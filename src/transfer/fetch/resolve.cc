#include "fetch/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>

#include "base/named_checksum.h"
#include "base/ownership.h"
#include "base/reach.h"
#include "base/text.h"
#include "base/threads.h"
#include "fetch/decide/retry.h"
#include "fetch/hosts/ledger.h"
#include "fetch/hosts/rate_limit.h"
#include "fetch/hosts/text_sink.h"

namespace sabath {
namespace {

constexpr unsigned requests_max = 200'000;
constexpr std::uint64_t resolve_bytes_max = 8ULL << 30;

// A stop that comes with another one, or when the time is over: a source that sends a byte now and then never stalls.
class TimedStop {
 public:
  TimedStop(std::stop_token other, std::chrono::milliseconds time)
      : forward_(std::move(other), [this] { source_.request_stop(); }),
        clock_(start_thread([this, time](std::stop_token done) {
          std::unique_lock lock(mutex_);
          wake_.wait_for(lock, done, time, [] { return false; });
          if (!done.stop_requested()) source_.request_stop();
        })) {}
  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> forward_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread clock_;  // the last: it ends before what it uses
};

class BoundedInquiry : public Inquiry {
 public:
  BoundedInquiry(FetchContext& context, const Url& source, std::chrono::milliseconds time_max)
      : context_(context), source_(source), time_max_(time_max), stop_(context.stop, time_max) {}

  Url rewritten(const Url& url) const override { return sabath::rewritten(url, context_.rewrites); }
  std::stop_token stop() const override { return stop_.token(); }

  void attempt(const Url& url, const std::function<void(Traffic&)>& request) override {
    SourceLine& line = context_.ledger.line(url.origin() + "/");  // as that of listed files
    for (unsigned failures = 0;;) {
      check_end();
      try {
        counted(line, request);
        line.succeeded();
        return;
      } catch (const Error& error) {
        const Failure& failure = error.failure();
        if (failure.kind == FailureKind::interrupted && !context_.stop.stop_requested()) check_end();
        if (verdict(failure.kind) == Verdict::fatal) throw;
        line.failed(failure, false);
        const bool again = verdict(failure.kind) == Verdict::again && !asks_for_later(failure);
        if (!again || ++failures >= attempts_max) throw;
        line.tell_pause(url.host(), failure);
        if (!sleep_unless_stopped(pause_after(failures, failure.retry_after, 0.5), stop())) {
          if (!context_.stop.stop_requested()) check_end();
          throw Error(FailureKind::interrupted, "stopped");
        }
      }
    }
  }

  // Of the farthest host that answered; nullopt: none is known.
  [[nodiscard]] std::optional<Reach> reach() const {
    return reaches_ == 0 ? std::nullopt : std::optional(static_cast<Reach>(std::countr_zero(reaches_)));
  }

  std::optional<std::string> document(const Url& named, std::size_t size_max) override {
    const Url url = this->rewritten(named);
    Fetcher* fetcher = context_.fetchers.find(url.scheme());
    if (fetcher == nullptr)
      throw Error(FailureKind::unavailable, fmt::format("no fetcher of this build reads {}", url.display()));
    TextSink text(url.display(), size_max);
    const ReadRequest request{.url = url, .offset = 0, .length = std::nullopt, .expected = {}};
    try {
      attempt(url, [&](Traffic& traffic) { fetcher->read(request, text, traffic, stop()); });
    } catch (const Error& error) {
      if (error.failure().kind == FailureKind::unavailable) return std::nullopt;
      throw;
    }
    return std::move(text.text);
  }

 private:
  void counted(SourceLine& line, const std::function<void(Traffic&)>& request) {
    Traffic traffic;
    const auto count = [&] {
      line.traffic.requests += traffic.requests;
      line.traffic.bytes += traffic.bytes;
      requests_ += traffic.requests;
      bytes_ += traffic.bytes;
      reaches_ |= traffic.reaches;
    };
    try {
      request(traffic);
    } catch (...) {
      count();
      throw;
    }
    count();
  }

  void check_end() const {
    const bool over = requests_ > requests_max || bytes_ > resolve_bytes_max || Clock::now() - begin_ >= time_max_;
    if (!over) return;
    throw Error(
        FailureKind::invalid,
        fmt::format("the listing of {} has no end: {} requests and {} bytes in {} s", source_.display(), requests_,
                    bytes_, std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_).count()),
        "name a smaller part of it: a deeper directory, or a narrower pattern");
  }

  using Clock = std::chrono::steady_clock;
  FetchContext& context_;
  const Url& source_;
  const std::chrono::milliseconds time_max_;
  const Clock::time_point begin_ = Clock::now();
  std::uint64_t requests_ = 0, bytes_ = 0;
  unsigned reaches_ = 0;  // as in Traffic
  const TimedStop stop_;
};

bool is_keyed(const std::string& scheme) { return scheme == "sftp" || scheme == "scp"; }

bool may_name(const std::string& from, const std::string& scheme) {
  constexpr std::array<std::string_view, 4> by_nobody_in_particular = {"https", "http", "ftp", "ftps"};
  return scheme == from || from == "file" ||
         std::ranges::find(by_nobody_in_particular, scheme) != by_nobody_in_particular.end();
}

Listing resolve_one(FetchContext& context, const Url& named, std::chrono::milliseconds time_max) {
  // A rule may lead to another protocol, whose resolver it is then; within one, each request is led.
  const Url there = rewritten(named, context.rewrites);
  const Url& url = there.scheme() == named.scheme() ? named : there;
  Resolver* resolver = context.fetchers.resolver_for(url);
  if (resolver == nullptr) {
    throw Error(FailureKind::unavailable, fmt::format("{} is no URL of many files", url.display()),
                "all URLs of a file_list must be of one kind: lists, or directories and the like");
  }
  BoundedInquiry inquiry(context, url, time_max);
  Listing listing = resolver->resolve(url, inquiry);
  if (listing.files.empty()) {
    throw Error(FailureKind::unavailable, fmt::format("{} lists no file", url.display()),
                "check the path and the pattern; what is shown in a browser only, by a script, cannot be listed");
  }
  check_listing(listing.files, url);
  name_listing(listing.files, url, inquiry.reach());
  for (ListedFile& file : listing.files) add_named_checksums(file.urls, file.checksum);
  return listing;
}

}  // namespace

void check_listing(const std::vector<ListedFile>& files, const Url& from) {
  const auto refuse = [&](const ListedFile& file, std::string_view why) {
    throw Error(FailureKind::invalid, fmt::format("the listing of {} is refused: \"{}\" {}", from.display(),
                                                  printable(file.path.text()), why));
  };
  std::unordered_set<std::string_view> names;
  names.reserve(files.size());
  for (const auto& file : files) {
    if (!names.insert(file.path.text()).second) refuse(file, "appears twice");
    if (file.urls.empty()) refuse(file, "has no source");
    for (const auto& url : file.urls) {
      if (!may_name(from.scheme(), url.scheme())) refuse(file, fmt::format("is said to be at {}:", url.scheme()));
    }
  }
  for (const auto& file : files) {
    for (std::string_view above = file.path.parent(); !above.empty();) {
      if (names.contains(above)) refuse(file, "is below a file");
      const auto slash = above.rfind('/');
      above = above.substr(0, slash == above.npos ? 0 : slash);
    }
  }
}

void name_listing(std::vector<ListedFile>& files, const Url& from, std::optional<Reach> heard) {
  Namer namer{.reach = heard.value_or(reach_of(from))};
  if (from.scheme() == "file") {
    namer.reach = Reach::host;
    namer.user = other_writer(percent_decode(from.path()));
    if (namer.user == 0 && !from.namer()) return;
  }
  const bool own_words = !from.namer() || from.namer()->own_host;
  for (ListedFile& file : files) {
    for (Url& url : file.urls) {
      const bool same = url.origin() == from.origin();
      namer.own_host = own_words && url.host() == from.host();
      url.add_namer(from.namer());
      // A host's key says who it is, and of a listing that was here before its host is all that is known.
      if (same && from.scheme() != "file" && (is_keyed(url.scheme()) || !heard)) continue;
      url.add_namer(namer);
    }
  }
}

void keep_first(std::vector<ListedFile>& files, std::optional<std::uint64_t> limit) {
  if (limit && files.size() > *limit) files.erase(files.begin() + static_cast<std::ptrdiff_t>(*limit), files.end());
}

Listing resolve(FetchContext& context, const std::vector<Url>& urls, std::optional<std::uint64_t> limit,
                std::chrono::milliseconds time_max, std::optional<std::size_t>* giver) {
  std::optional<Failure> failure;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    try {
      Listing listing = resolve_one(context, urls[i], time_max);
      if (giver != nullptr) *giver = i;
      keep_first(listing.files, limit);
      return listing;
    } catch (const Error& error) {
      if (verdict(error.failure().kind) == Verdict::fatal) throw;
      if (!failure || tells_more(error.failure(), *failure)) failure = error.failure();
    }
  }
  throw Error(*failure);
}

}  // namespace sabath
