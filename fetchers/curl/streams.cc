#include "curl/streams.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/threads.h"
#include "curl/handle.h"

namespace sabath {
namespace {

using std::chrono::milliseconds;

// One connection is one window and one core's TLS: as many streams as fill it, and a few of them.
constexpr unsigned streams_of_line = 16;
constexpr std::size_t lines_max = 4;
constexpr milliseconds idle_look{60'000};
constexpr milliseconds long_pause{1000};  // of the receivers: that time is not the peer's

}  // namespace

// One connection (a new one where the server ends it), and its thread.
class Streams::Line {
 public:
  struct Job {
    Transfer& transfer;
    Mailbox& mailbox;
    std::optional<CURLcode> code{};
    bool alone = false;  // the answer came by HTTP/1.1
  };
  Line() : multi_(make_multi()), thread_(start_thread([this](const std::stop_token& stop) { drive(stop); })) {}
  ~Line() {
    thread_.request_stop();
    wake();
  }

  void add(Job& job) {
    {
      const std::lock_guard lock(mutex_);
      arrived_.push_back(&job);
    }
    wake();
  }
  void wake() { curl_multi_wakeup(multi_.get()); }

  [[nodiscard]] bool ready() const { return ready_; }  // it was connected once

  unsigned load = 0;  // under the mutex of Streams

 private:
  void drive(const std::stop_token& stop) {
    for (;;) {
      admit();
      if (jobs_.empty() && stop.stop_requested()) return;
      const auto begun = Transfer::Clock::now();
      int running = 0;
      const CURLMcode status = curl_multi_perform(multi_.get(), &running);
      const auto now = Transfer::Clock::now();
      if (now - begun > long_pause) std::ranges::for_each(jobs_, [&](Job* job) { job->transfer.last_progress = now; });
      ready_ = ready_ || std::ranges::any_of(jobs_, [](const Job* job) { return job->transfer.connected; });
      take_results();
      const milliseconds wait = end_some(status != CURLM_OK);
      if (wait > milliseconds{0}) curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(wait.count()), nullptr);
    }
  }

  void admit() {
    std::vector<Job*> arrived;
    {
      const std::lock_guard lock(mutex_);
      arrived.swap(arrived_);
    }
    for (Job* job : arrived) {
      curl_easy_setopt(job->transfer.easy, CURLOPT_PRIVATE, job);
      curl_multi_add_handle(multi_.get(), job->transfer.easy);
      jobs_.push_back(job);
    }
  }

  void take_results() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      Job* job = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &job);
      job->code = message->data.result;
      end(*job);
    }
  }

  // Those that may go on do; those that are to end before they are done, end. How long the others may be left alone.
  milliseconds end_some(bool broken) {
    milliseconds wait = jobs_.empty() ? idle_look : milliseconds(1000);
    for (std::size_t i = jobs_.size(); i-- > 0;) {
      Job& job = *jobs_[i];
      if (broken) job.code = CURLE_OUT_OF_MEMORY;
      if (job.transfer.paused && !job.transfer.ended() && job.mailbox.has_room()) job.transfer.resume();
      const milliseconds patience = job.transfer.patience();
      if (broken || job.transfer.ended() || patience <= milliseconds{0}) {
        end(job);
      } else {
        wait = std::min(wait, patience);
      }
    }
    return wait;
  }

  // The job is not touched any more: it stands on the stack of the thread that waits for it.
  void end(Job& job) {
    long version = 0;
    curl_easy_getinfo(job.transfer.easy, CURLINFO_HTTP_VERSION, &version);
    job.alone = version != 0 && version < CURL_HTTP_VERSION_2_0;
    curl_multi_remove_handle(multi_.get(), job.transfer.easy);
    std::erase(jobs_, &job);
    job.mailbox.end();
  }

  const std::unique_ptr<CURLM, FreeMulti> multi_;
  std::atomic<bool> ready_{false};
  std::mutex mutex_;
  std::vector<Job*> arrived_;
  std::vector<Job*> jobs_;  // of the thread alone
  std::jthread thread_;     // last: it uses all the others
};

Streams::Streams() : built_((curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_HTTP2) != 0) {}
Streams::~Streams() = default;

bool Streams::serves(const Url& url) {
  if (!built_ || url.scheme() != "https") return false;
  const std::lock_guard lock(mutex_);
  const auto found = origins_.find(url.origin());
  return found == origins_.end() || !found->second.alone;
}

Streams::Line& Streams::take_line(const std::string& origin) {
  const std::lock_guard lock(mutex_);
  auto& lines = origins_[origin].lines;
  // A new one gets a single request until it is connected: the others do not wait for that.
  auto best =
      std::ranges::min_element(lines, {}, [](const auto& line) { return std::pair(!line->ready(), line->load); });
  if (best == lines.end() || ((*best)->ready() && (*best)->load >= streams_of_line && lines.size() < lines_max)) {
    lines.push_back(std::make_unique<Line>());
    best = std::prev(lines.end());
  }
  ++(*best)->load;
  return **best;
}

void Streams::give_back(const std::string& origin, Line& line, bool alone) {
  const std::lock_guard lock(mutex_);
  --line.load;
  origins_[origin].alone = origins_[origin].alone || alone;
}

std::optional<CURLcode> Streams::run(Transfer& transfer, Mailbox& mailbox) {
  const std::string origin = transfer.request.url.origin();
  Line& line = take_line(origin);
  Line::Job job{transfer, mailbox};
  struct Return {
    ~Return() { streams.give_back(origin, line, job.alone); }
    Streams& streams;
    const std::string& origin;
    Line& line;
    const Line::Job& job;
  } const give_line_back{*this, origin, line, job};
  const std::stop_callback wake(transfer.stop, [&line] { line.wake(); });
  transfer.has_room = [&] { return mailbox.has_room(); };
  line.add(job);
  mailbox.deliver([&] { line.wake(); },
                  [&] {
                    transfer.cancelled = true;
                    line.wake();
                  });
  return job.code;
}

}  // namespace sabath
