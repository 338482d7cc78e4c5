// The mirrors of one file: which is read next, and the state of each. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "fetch/decide/job.h"
#include "fetch/decide/retry.h"
#include "fetch/hosts/context.h"
#include "fetch/hosts/hosts.h"
#include "fetch/hosts/ledger.h"

namespace sabath {

class MirrorSet {
 public:
  // `ranges_needed`: a mirror that ignores ranges is of no use (several lanes share the file).
  MirrorSet(FetchContext& context, const FileJob& job, bool ranges_needed);

  struct Pick {
    std::size_t index = 0;
    const Url* url = nullptr;
    SourceLine* line = nullptr;
    Host* host = nullptr;
    std::chrono::steady_clock::time_point at{};
    Coding coding = Coding::any;
  };
  using Filter = std::function<bool(std::size_t index)>;
  // The best mirror that is alive, ready and `allowed`, with a connection to its host; nullopt: none just now. Throws
  // the most telling failure when all are dead. Each pick is given back by succeeded(), failed() or released().
  [[nodiscard]] std::optional<Pick> try_pick(const Filter& allowed = {});
  // Waits for one: for `alone`, as long as that is alive. Throws Error{interrupted} on a stop request.
  [[nodiscard]] Pick pick(std::stop_token stop, std::optional<std::size_t> alone = std::nullopt);
  void succeeded(const Pick& pick);
  // A request for a part failed. Where the mirror would be given up, perhaps the part alone was refused: before the
  // file is, the mirror is asked for the whole. Returns what to take the failure as: Error{no_ranges} where ranges are
  // needed.
  [[nodiscard]] Error of_part(const Pick& pick, const Error& error);
  // `progress`: bytes were kept, so the row of failures starts anew. Rethrows what is fatal.
  void failed(const Pick& pick, const Error& error, bool progress);
  void released(const Pick& pick);                           // neither: it was ended from here
  void set_aside(const Pick& pick, const Failure& failure);  // dead until revived, and not to blame yet
  void unused(const Pick& pick);                             // nothing was asked
  // The bytes that came are not the file, and the answer says how they are coded: from now on the mirror is asked for
  // the whole by another coding. False: there is no other.
  bool ask_otherwise(const Pick& pick, const ContentInfo& info);
  [[nodiscard]] bool rangeless(const Pick& pick) const;  // it has ignored a range
  // Each request costs much, or may be refused, as one was just now: make few.
  [[nodiscard]] bool dear(const Pick& pick) const;
  // The bytes of this mirror turned out to be wrong when another had given the whole.
  void demote(std::size_t index, const Failure& failure);
  using Heard = std::map<std::size_t, Failure>;
  void leave_out(const Heard& heard);  // these have been heard for this file before, and failed so
  // The bytes that several mirrors gave of file `name` were wrong together, and one of them has proved to be right: if
  // there was just one other, that one was wrong.
  void blame_other(std::set<std::size_t> suspects, std::size_t right, const std::string& name);
  void revive_rangeless();  // mirrors that died for want of ranges may be read from their start
  void revive(std::size_t index);
  [[nodiscard]] bool only_rangeless() const;
  [[nodiscard]] bool dead(std::size_t index) const;
  [[nodiscard]] std::size_t alive() const;
  void proved(std::size_t index);                          // what it gave was right
  [[nodiscard]] bool has_proved(std::size_t index) const;  // here, or to another rank
  // Those of which another rank has said since the last call that they gave wrong bytes: they are dead now.
  [[nodiscard]] std::vector<std::size_t> fallen();
  [[nodiscard]] bool any_alive() const { return alive() > 0; }
  [[nodiscard]] const Host& host(std::size_t index) const { return *mirrors_[index].host; }
  [[nodiscard]] std::size_t size() const { return mirrors_.size(); }
  [[nodiscard]] std::string name(std::size_t index) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Mirror {
    Url url;
    SourceLine* line;
    Host* host;
    std::string subject;  // of judgements: the content, and the source that gives it
    MirrorState state;
    Clock::time_point ready_at, failed_at;
    std::optional<Failure> last;
    unsigned restarts = 0;  // counted whether or not it made progress between them
    Coding coding = Coding::any;
    std::string sent{};  // what it does to the bytes, for messages
    bool rangeless = false, part_refused = false;
    Clock::time_point whole_since{};  // no parts are asked for from then on
    std::uint64_t host_bytes = 0;     // received from the host when it refused last
  };
  [[nodiscard]] std::size_t count_alive() const;  // the mutex is held
  void give_back(Mirror& mirror);                 // the mutex is held
  void lied(Mirror& mirror);                      // the mutex is held
  void hear_wholes();                             // the mutex is held; no mirror is alive
  static bool serves_others(Mirror& mirror);      // something came of its host since it refused last
  [[noreturn]] void throw_most_telling() const;

  Hosts& hosts_;
  mutable std::mutex mutex_;
  std::vector<Mirror> mirrors_;
  bool ranges_needed_;
  std::atomic<unsigned> wrong_seen_{0};  // Hosts::wrong_words()
};

}  // namespace sabath
