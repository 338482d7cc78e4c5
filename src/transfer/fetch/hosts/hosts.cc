#include "fetch/hosts/hosts.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "comm/parcel.h"
#include "fetch/decide/retry.h"
#include "machine/idle_cores.h"

namespace sabath {
namespace {

constexpr unsigned connections_max = 64;  // many small files at a distance need as many
constexpr unsigned sole_max = 96;         // one large file, where slow start is what takes long
constexpr unsigned all_max = 128;         // of all hosts together
constexpr unsigned near_start_max = 4;    // large files of a host that is near: more are tried, and kept if they help
constexpr unsigned login_start = 2;
constexpr double rate_window_s = 0.4;
constexpr double rate_memory = 0.5;  // weight of the past
constexpr double still_s = 0.15;     // without a tick, and until all have had their turn again
constexpr std::chrono::seconds pause_worth_telling{1};
constexpr std::chrono::milliseconds left_out_together{100};  // by one hiccup
constexpr std::chrono::minutes left_out_memory{1};           // longer than any silence that is waited for
constexpr std::size_t heard_max = 1024;                      // hosts
constexpr std::size_t judged_max = 65536;                    // sources of content
constexpr std::uint64_t bytes_of_a_lie = 32ULL << 20;        // of other bytes must have come for each

// All ranks ask a host at once; each gets enough to fill its own link.
unsigned share_of(unsigned most, unsigned ranks) { return std::max(16U, most / std::max(1U, ranks)); }

// `name` of a rule, "scheme://host[:port]"
bool names_host(std::string_view name, std::string_view origin) {
  const std::size_t begin = origin.find("://");
  std::string_view host = begin == origin.npos ? origin : origin.substr(begin + 3);
  if (const auto port = host.rfind(':'); port != host.npos && host.find(']', port) == host.npos) {
    host = host.substr(0, port);
  }
  return name.starts_with("*.") ? host.ends_with(name.substr(1)) : host == name;
}

}  // namespace

bool Host::open() const {
  const std::lock_guard lock(table_.mutex_);
  return in_use_ < target() && table_.in_use_ < table_.lanes_max_ && paused_until_ <= Clock::now();
}

unsigned Host::target() const { return std::min(policy_.target(), connections_max_); }

bool Host::try_connect() {
  const std::lock_guard lock(table_.mutex_);
  if (in_use_ >= target() || table_.in_use_ >= table_.lanes_max_ || paused_until_ > Clock::now()) return false;
  ++in_use_;
  ++table_.in_use_;
  return true;
}

void Host::disconnect() {
  disconnect_unused();
  table_.changed_.notify_one();
}

void Host::disconnect_unused() {
  const std::lock_guard lock(table_.mutex_);
  --in_use_;
  --table_.in_use_;
}

void Host::connecting() {
  const std::lock_guard lock(table_.mutex_);
  if (connecting_ == 0) connecting_ = table_.now();
}

void Host::connected(std::chrono::duration<double> trip) {
  const std::lock_guard lock(table_.mutex_);
  trip_ = trip_ == 0 ? trip.count() : std::min(trip_, trip.count());
}

void Host::answered(std::chrono::duration<double> latency, std::chrono::duration<double> waited,
                    ConnectionPolicy::Manner manner) {
  const std::lock_guard lock(table_.mutex_);
  manner_.many = manner_.many || manner.many;
  manner_.shared = manner_.shared || manner.shared;
  latency_ = latency_ == 0 ? latency.count() : std::min(latency_, latency.count());
  if (policy_.by_login()) login_ = std::max(login_, (waited - latency).count());
}

void Host::received(std::uint64_t bytes, const std::stop_token& stop) {
  bytes_ += bytes;
  limiter_.take(bytes, stop);
}

void Host::pause_until(Clock::time_point time, bool crowded) {
  const std::lock_guard lock(table_.mutex_);
  const bool longer = time > paused_until_ + pause_worth_telling;
  table_.pause(*this, {time, crowded});
  if (!longer && !crowded) return;
  auto& news = table_.news_[origin_];
  news = {std::max(news.until, time), news.crowded || crowded};
  if (longer) {
    const auto left = std::chrono::duration<double>(time - Clock::now()).count();
    table_.notes_.push_back(fmt::format("{}: asks for a pause of {:.0f} s", origin_, left));
  }
}

void Host::left_out() {
  const auto now = Clock::now();
  const std::lock_guard lock(table_.mutex_);
  const auto since = now - left_out_at_;
  if (since < left_out_together) return;
  left_out_at_ = now;
  const std::uint64_t served = bytes_ - std::exchange(left_out_bytes_, bytes_);
  if (since > left_out_memory || served == 0) return;
  table_.pause(*this, {now, true});
  table_.news_[origin_].crowded = true;
}

Host::Clock::time_point Host::paused_until() const {
  const std::lock_guard lock(table_.mutex_);
  return paused_until_;
}

unsigned Host::in_use() const {
  const std::lock_guard lock(table_.mutex_);
  return in_use_;
}

unsigned Host::places() const {
  const std::lock_guard lock(table_.mutex_);
  return target();
}

double Host::rate() const {
  const std::lock_guard lock(table_.mutex_);
  return rate_;
}

Schedule::Speed Host::speed() const {
  const std::lock_guard lock(table_.mutex_);
  return {rate_ / std::max(1U, in_use_), latency_, login_};
}

bool Host::by_login() const {
  const std::lock_guard lock(table_.mutex_);
  return policy_.by_login();
}

bool Host::by_program() const {
  const std::lock_guard lock(table_.mutex_);
  return policy_.by_program();
}

Hosts::Hosts(unsigned lanes_max, unsigned ranks, const std::vector<HostRule>& rules)
    : lanes_max_(lanes_max == 0 ? all_max : std::max(1U, lanes_max / std::max(1U, ranks))),
      each_(lanes_max == 0 ? ConnectionPolicy::Limits{.start = 8,
                                                      .max = share_of(connections_max, ranks),
                                                      .sole_max = share_of(sole_max, ranks)}
                           : ConnectionPolicy::Limits{.start = std::min(8U, lanes_max_), .max = lanes_max_}),
      ranks_(std::max(1U, ranks)),
      rules_(rules) {}

// Where each connection costs a login, a fetch begins with few, until the host is known to be far away. A near host is
// bound by the ciphers: it is given no more connections than this machine has cores.
ConnectionPolicy::Limits Hosts::limits_of(std::string_view origin, bool by_program) const {
  if (!origin.starts_with("sftp:") && !origin.starts_with("scp:")) {
    return {.start = each_.start,
            .max = each_.max,
            .sole_max = each_.sole_max,
            .by_program = by_program,
            .near_start = std::clamp(std::thread::hardware_concurrency(), 2U, near_start_max)};
  }
  return {.start = std::min(login_start, each_.start),
          .max = each_.max,
          .by_login = true,
          .by_program = by_program,
          .near_max = std::max(login_start, std::thread::hardware_concurrency())};
}

Host& Hosts::of(const std::string& origin, bool by_program) {
  const std::lock_guard lock(mutex_);
  Host*& host = by_origin_[origin];
  if (host != nullptr) return *host;
  host = &hosts_.emplace_back(*this, origin, limits_of(origin, by_program));
  keep_rules(*host);
  if (const auto heard = heard_.extract(origin)) pause(*host, heard.mapped());
  return *host;
}

void Hosts::add_rule(const HostRule& rule) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(rules_, rule) != rules_.end()) return;
  rules_.push_back(rule);
  for (Host& host : hosts_) keep_rules(host);
}

std::vector<HostRule> Hosts::rules() const {
  const std::lock_guard lock(mutex_);
  return rules_;
}

void Hosts::keep_rules(Host& host) const {
  std::uint64_t rate = 0;
  for (const auto& [name, limits] : rules_) {
    if (!names_host(name, host.origin_)) continue;
    const auto least = [](auto kept, auto said) { return said == 0 || (kept != 0 && kept < said) ? kept : said; };
    if (limits.connections > 0) {
      host.connections_max_ = std::min(host.connections_max_, std::max(1U, limits.connections / ranks_));
    }
    rate = least(rate, limits.rate);
  }
  host.limiter_.set_rate(rate == 0 ? 0 : std::max<std::uint64_t>(1, rate / ranks_));
}

void Hosts::pause(Host& host, const Pause& pause) {
  const auto now_at = Clock::now();
  const bool longer = pause.until > std::max(host.paused_until_, now_at) + pause_worth_telling;
  const bool waited_for = !pause.crowded || pause.until - now_at <= asked_pause_max;  // a quota's end always is
  if (longer && waited_for && pauses_.size() < heard_max) {
    const std::size_t scheme = host.origin_.find("://");
    const double seconds = std::chrono::duration<double>(pause.until - now_at).count();
    pauses_.push_back({scheme == std::string::npos ? host.origin_ : host.origin_.substr(scheme + 3), seconds});
  }
  host.paused_until_ = std::max(host.paused_until_, pause.until);
  if (pause.crowded) host.policy_.crowded(now(), host.in_use_);
}

void Hosts::judge(const Host& host, const std::string& subject, Word word) {
  const std::lock_guard lock(mutex_);
  const Judgement judgement{host.origin_, word};
  make_room_to_judge();
  if (const auto known = judged_.find(subject); known != judged_.end() && known->second >= word) return;
  take(subject, judgement);
  if (ranks_ > 1) untold_[subject] = judgement;
}

// A source that was right can prove it again by one chunk; one that lied is remembered as long as there is room.
void Hosts::make_room_to_judge() {
  if (judged_.size() < judged_max) return;
  std::erase_if(judged_, [](const auto& known) { return known.second == Word::right; });
  if (judged_.size() >= judged_max) judged_.clear();
}

void Hosts::take(const std::string& subject, const Judgement& judgement) {
  Word& known = judged_[subject];
  if (known >= judgement.word) return;
  known = judgement.word;
  if (known != Word::wrong) return;
  ++wrong_words_;
  ++lies_[judgement.origin];
}

Hosts::Word Hosts::judged(const std::string& subject) const {
  const std::lock_guard lock(mutex_);
  const auto found = judged_.find(subject);
  return found == judged_.end() ? Word::none : found->second;
}

bool Hosts::suspect(const Host& host) const {
  if (wrong_words_ == 0) return false;
  const std::lock_guard lock(mutex_);
  const auto found = lies_.find(host.origin_);
  return found != lies_.end() && found->second * bytes_of_a_lie > host.bytes_;
}

std::string Hosts::take_news() {
  const std::lock_guard lock(mutex_);
  Parcel parcel;
  for (const auto& [subject, judgement] : untold_) {
    parcel.add(judgement.origin).add(static_cast<std::uint64_t>(judgement.word)).add(subject);
  }
  untold_.clear();
  for (const auto& [origin, pause] : news_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(pause.until - Clock::now());
    parcel.add(origin).add(std::uint64_t{0}).add(static_cast<std::uint64_t>(std::max<std::int64_t>(left.count(), 0)));
    parcel.add(std::uint64_t{pause.crowded});
  }
  news_.clear();
  return parcel.take();
}

void Hosts::hear_news(const std::string& news) {
  const std::lock_guard lock(mutex_);
  Parcel::Reader parcel(news);
  while (!parcel.at_end()) {
    const std::string origin = parcel.text();
    if (const auto word = parcel.number(); word != 0) {
      const std::string subject = parcel.text();
      make_room_to_judge();
      take(subject, {origin, word == 1 ? Word::right : Word::wrong});
      continue;
    }
    const Pause heard{Clock::now() + std::chrono::milliseconds(parcel.number()), parcel.flag()};
    if (const auto host = by_origin_.find(origin); host != by_origin_.end()) {
      pause(*host->second, heard);
    } else if (heard_.size() < heard_max) {
      heard_[origin] = heard;
    }
  }
}

std::vector<std::string> Hosts::tick() {
  std::vector<std::string> reasons;
  {
    const std::lock_guard lock(mutex_);
    reasons.swap(notes_);
    const double time = now();
    if (time - std::exchange(ticked_, time) > still_s) attended_since_ = time;
    std::uint64_t of_all = 0;
    for (const Host& host : hosts_) of_all += host.bytes_;
    const bool any_near = std::ranges::any_of(hosts_, [](const Host& host) { return host.near(); });
    const auto idle = any_near ? idle_seconds() : std::nullopt;
    for (Host& host : hosts_) {
      const std::uint64_t bytes = host.bytes_;
      if (time - host.rate_time_ >= rate_window_s) {
        const double rate = static_cast<double>(bytes - host.rate_bytes_) / (time - host.rate_time_);
        const bool idle = host.in_use_ == 0 && rate == 0;
        if (!idle) host.rate_ = host.rate_ == 0 ? rate : rate_memory * host.rate_ + (1 - rate_memory) * rate;
        host.rate_time_ = time;
        host.rate_bytes_ = bytes;
      }
      if (host.policy_.observe({.now = time,
                                .bytes = bytes,
                                .bytes_of_all = of_all,
                                .in_use = host.in_use_,
                                .latency = host.latency_,
                                .manner = host.manner_,
                                .connecting = host.connecting_,
                                .trip = host.trip_,
                                .held_back = host.held_back_.exchange(false),
                                .sole = hosts_.size() == 1,
                                .idle = idle})) {
        reasons.push_back(fmt::format("{}: {}", host.origin_, host.policy_.reason()));
      }
    }
  }
  if (!reasons.empty()) wake();
  return reasons;
}

std::vector<event::HostPaused> Hosts::take_pauses() {
  const std::lock_guard lock(mutex_);
  return std::exchange(pauses_, {});
}

bool Hosts::stood_still() const {
  const std::lock_guard lock(mutex_);
  return now() - ticked_ > still_s || now() - attended_since_ < still_s;
}

unsigned Hosts::connections() const {
  const std::lock_guard lock(mutex_);
  unsigned sum = 0;
  for (const Host& host : hosts_) sum += host.target();
  return std::clamp(sum, 1U, lanes_max_);
}

void Hosts::wait(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most);
}

void Hosts::wake() { changed_.notify_all(); }

}  // namespace sabath
