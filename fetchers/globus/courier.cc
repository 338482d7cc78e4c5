#include "globus/courier.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_reader.h"

namespace sabath::globus {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds first_look{200}, last_look{30'000};  // between two looks at a task
constexpr unsigned silent_looks_max = 20;                   // in a row, without an answer
constexpr std::chrono::seconds arrival_max{10};             // until a network filesystem shows what is there
constexpr std::uint64_t ticket_size_max = 16 * 1024;

// Sleeps, unless a stop is requested.
void pause(milliseconds time, const Caller& caller) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  static_cast<void>(never.wait_for(lock, caller.stop, time, [] { return false; }));
  if (!caller.stop.stop_requested()) return;
  throw Error(FailureKind::interrupted, caller.what + ": stopped", "Globus goes on; the next run takes it up");
}

std::string name_of(const std::string& url) { return "sabath-" + sha256(url).hex().substr(0, 32); }

}  // namespace

Courier::Courier(const Service& service, const GlobusSettings& settings, const Url& url, std::chrono::seconds patience)
    : service_(service),
      url_(url.text()),
      from_(parse_place(url)),
      to_{settings.collection, settings.path + name_of(url_)},
      file_(settings.directory / name_of(url_)),
      ticket_file_(file_.string() + ".ticket"),
      patience_(patience) {}

FileFacts Courier::facts(const Caller& caller) {
  {
    const std::lock_guard lock(mutex_);
    if (facts_) return *facts_;
  }
  const FileFacts found = service_.stat(from_, caller);
  const std::lock_guard lock(mutex_);
  if (!facts_) facts_ = found;
  return *facts_;
}

std::filesystem::path Courier::bring(const Caller& caller) {
  const FileFacts wanted = facts(caller);
  std::unique_lock lock(mutex_);
  const bool waits = bringing_;
  if (!changed_.wait(lock, caller.stop, [&] { return !bringing_; }))
    throw Error(FailureKind::interrupted, caller.what + ": stopped");
  if (waits && failure_) throw Error(*failure_);
  if (here_ && try_lstat(file_)) return file_;
  bringing_ = true;
  lock.unlock();
  const auto done = [&](std::optional<Failure> failure) {
    const std::lock_guard again(mutex_);
    bringing_ = false;
    here_ = !failure;
    failure_ = std::move(failure);
    changed_.notify_all();
  };
  try {
    // A ticket from earlier may stand for what was swept away since: then once more, with one of our own.
    if (!try_bring(wanted, caller) && !try_bring(wanted, caller)) {
      throw Error(FailureKind::unavailable,
                  fmt::format("{}: Globus delivered it to {} of {}, and {} is not there", caller.what, to_.path,
                              to_.collection, file_.string()),
                  "`globus` in the configuration names a collection's path and the directory that shows it here");
    }
  } catch (const Error& error) {
    done(error.failure());
    throw;
  }
  done(std::nullopt);
  return file_;
}

void Courier::note_read(ByteRange asked, std::uint64_t got) {
  const std::lock_guard lock(mutex_);
  read_ = true;
  asked_.add(asked);
  got_.add({asked.begin, std::min(asked.begin + got, asked.end)});
}

bool Courier::is_read() const {
  const std::lock_guard lock(mutex_);
  return here_ && read_ && got_.size() == asked_.size();  // what was got was asked for
}

// False: it is not where it should be.
bool Courier::try_bring(const FileFacts& facts, const Caller& caller) {
  const Ticket ticket = ticket_for(facts, caller);
  try {
    wait_for(service_.submit({from_, to_, ticket.submission_id}, caller), caller);
  } catch (const Error& error) {
    const FailureKind kind = error.failure().kind;
    const bool goes_on =
        kind == FailureKind::interrupted || kind == FailureKind::network || kind == FailureKind::access;
    if (!goes_on) take_away();  // its task is over: the next try is a new one
    if (ticket.found && kind == FailureKind::unavailable) return false;
    throw;
  }
  if (arrived(facts, caller)) return true;
  take_away();
  return false;
}

Courier::Ticket Courier::ticket_for(const FileFacts& facts, const Caller& caller) const {
  for (int tries = 0; tries < 3; ++tries) {
    if (auto found = try_read_ticket(facts)) return *found;
    const std::string id = service_.new_submission(caller);
    if (try_write_ticket(id, facts)) return {id, false};
  }
  throw Error(FailureKind::network, fmt::format("{}: others deliver it at the same time", caller.what));
}

// One for another version of the file is taken away, with what came of it.
std::optional<Courier::Ticket> Courier::try_read_ticket(const FileFacts& facts) const {
  const auto text = try_read_text(ticket_file_, ticket_size_max);
  if (!text) return std::nullopt;
  try {
    const std::string origin = ticket_file_.string();
    const JsonValue document = parse_json(*text, origin);
    JsonObject ticket(document, origin, "a ticket");
    if (ticket.text("url") == url_ && ticket.text("version") == facts.version)
      return Ticket{ticket.text("submission_id"), true};
  } catch (const Error&) {  // damaged: as if it were not there
  }
  take_away();
  return std::nullopt;
}

// False: another process was first.
bool Courier::try_write_ticket(const std::string& submission_id, const FileFacts& facts) const {
  const nlohmann::json ticket = {{"submission_id", submission_id}, {"url", url_}, {"version", facts.version}};
  const std::filesystem::path own = fmt::format("{}.{}", ticket_file_.string(), submission_id);
  write_text_atomically(own, ticket.dump() + "\n", 0600);
  const bool first = ::link(own.c_str(), ticket_file_.c_str()) == 0;
  const int error = errno;
  ::unlink(own.c_str());
  if (!first && error != EEXIST) throw_errno("make the ticket", ticket_file_, error);
  return first;
}

void Courier::wait_for(const std::string& task_id, const Caller& caller) const {
  milliseconds time = first_look;
  std::uint64_t progress = 0;
  unsigned silent = 0;
  auto last_progress = Clock::now();
  for (;;) {
    const Task task = look_at(task_id, silent, caller);
    if (task.state == Task::State::succeeded) return;
    if (is_hopeless(task)) {  // else Globus tries for days
      service_.cancel(task_id, caller);
      take_away();
    }
    if (task.state != Task::State::active || is_hopeless(task)) throw Error(failure_of(task, task_id, caller.what));
    const auto now = Clock::now();
    if (task.progress > progress) last_progress = now;
    progress = std::max(progress, task.progress);
    if (now - last_progress > patience_) {
      throw Error(FailureKind::network,
                  fmt::format("{}: Globus has moved nothing for {} s", caller.what, patience_.count()),
                  "see https://app.globus.org/activity/" + task_id);
    }
    pause(time, caller);
    time = std::min(time * 3 / 2, last_look);
  }
}

// A look that fails says nothing of the task: it stands as active, for a bounded number of times.
Task Courier::look_at(const std::string& task_id, unsigned& silent, const Caller& caller) const {
  try {
    Task task = service_.task(task_id, caller);
    silent = 0;
    return task;
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::network || ++silent > silent_looks_max) throw;
    pause(std::min(error.failure().retry_after.value_or(milliseconds{0}), last_look), caller);
    return {};
  }
}

bool Courier::arrived(const FileFacts& facts, const Caller& caller) const {
  const auto deadline = Clock::now() + arrival_max;
  for (;;) {
    const auto status = try_lstat(file_);
    if (status && S_ISREG(status->st_mode) && static_cast<std::uint64_t>(status->st_size) == facts.size_bytes)
      return true;
    if (Clock::now() > deadline) return false;
    pause(first_look, caller);
  }
}

void Courier::take_away() const noexcept {
  ::unlink(file_.c_str());
  ::unlink(ticket_file_.c_str());
}

}  // namespace sabath::globus
