// Which mirrors of one file are believed, and what that rests on: decisions only. The caller has a mutex.
//
// The first mirror that is asked leads. Where the whole can be proved, others join it once they agree with samples of
// its bytes; until then each gives one chunk at most, which is held. Where the whole cannot be proved, or several
// mirrors together gave a wrong one, one mirror gives all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "fetch/transfer/flow.h"
#include "sabath/error.h"
#include "sabath/fetcher.h"

namespace sabath {

class Trust {
 public:
  using Mirror = std::size_t;
  explicit Trust(bool provable) : mixable_(provable) {}
  void restart();  // the file begins anew; suspicions stay

  // --- which mirror is asked for what
  void asked(Mirror mirror);  // for data: the first leads
  [[nodiscard]] bool to_compare(Mirror mirror) const;
  [[nodiscard]] bool may_give(Mirror mirror) const;
  void begin_comparing(Mirror mirror) { comparing_.insert(mirror); }
  void end_comparing(Mirror mirror) { comparing_.erase(mirror); }
  void admit(Mirror mirror);
  void differs(Mirror mirror, const Failure& failure) { differing_.emplace(mirror, failure); }
  [[nodiscard]] bool leads(Mirror mirror) const { return leader_ == mirror; }
  // The leader has not given what others could be compared with, and may never do so.
  [[nodiscard]] bool lead_is_open() const { return mixable_ && sample_.bytes.empty(); }
  bool take_lead(Mirror mirror);  // false: it had it
  void forget_leader();           // and the mirrors admitted beside it

  // --- what came
  struct Sample {  // what the leader gave first
    std::uint64_t begin = 0;
    std::vector<std::byte> bytes;
  };
  [[nodiscard]] const Sample& sample() const { return sample_; }
  [[nodiscard]] bool wants_sample(const std::set<Mirror>& givers) const;
  void keep_sample(std::uint64_t begin, std::span<const std::byte> bytes);
  [[nodiscard]] bool believed(const std::set<Mirror>& givers) const;
  void hold(Whole whole) { held_.push_back(std::move(whole)); }
  [[nodiscard]] bool any_held() const;  // that is believed now
  [[nodiscard]] Whole take_held();      // if any_held()
  // Those of mirrors that were never believed, and are dead: returns their chunks.
  std::vector<std::uint64_t> drop_held(const std::function<bool(Mirror)>& dead);
  void gave(const std::set<Mirror>& givers) { givers_.insert(givers.begin(), givers.end()); }
  [[nodiscard]] const std::set<Mirror>& givers() const { return givers_; }  // of chunks that are kept

  // --- versions
  void expect(Mirror mirror, const Validators& version) { versions_[mirror] = version; }
  [[nodiscard]] Validators expected(Mirror mirror, const Validators& otherwise) const;
  [[nodiscard]] bool same_version(Mirror mirror, const Validators& version);  // as before, if there was one before
  [[nodiscard]] Validators version_of_leader() const;
  // Perhaps its name stands for several machines, each with a version of its own for the same bytes: a version is a
  // hint, and the proof of the whole decides. Earlier bytes stay, and are compared with later ones (`something`: there
  // are earlier ones). False: nothing would prove a mixture; the file begins anew.
  bool doubt_version(Mirror mirror, bool something);
  [[nodiscard]] bool doubts_version(Mirror mirror) const { return nameless_.contains(mirror); }
  [[nodiscard]] bool doubts_versions() const { return !nameless_.empty(); }
  // A second version after the file began anew: one answer is to bring all of it.
  [[nodiscard]] bool needs_one_answer() { return ++changes_ > 1; }

  // --- which mirror was wrong
  // The mirror is dead. True: what it gave may not stay with what others give.
  [[nodiscard]] bool dismiss(Mirror mirror, bool wrong, bool others);
  // The bytes of this dead mirror are worth nothing: it was wrong, or never agreed. One that only broke off was right.
  [[nodiscard]] bool worthless(Mirror mirror) const { return wrong_.contains(mirror) || !agreed_.contains(mirror); }
  // The whole did not match, and each is heard alone from here on. Returns the mirror that gave all of it, if one did.
  [[nodiscard]] std::optional<Mirror> whole_was_wrong(bool some_was_left);
  [[nodiscard]] const std::map<Mirror, Failure>& differing() const { return differing_; }
  // Those that differed from the leader are heard again, and each alone; empty: there are none.
  [[nodiscard]] std::map<Mirror, Failure> hear_differing_alone();
  [[nodiscard]] const std::set<Mirror>& suspects() const { return suspects_; }  // gave what was wrong as a whole

 private:
  bool mixable_;  // several may be believed together
  std::optional<Mirror> leader_;
  std::set<Mirror> admitted_, comparing_;  // those that agree with it, and those that are being compared
  std::set<Mirror> agreed_;                // were admitted: what they gave is believed, also when they give no more
  std::set<Mirror> givers_, suspects_, wrong_;
  std::set<Mirror> nameless_;  // their versions say nothing
  unsigned changes_ = 0;
  std::vector<Whole> held_;
  std::map<Mirror, Failure> differing_;
  std::map<Mirror, Validators> versions_;
  Sample sample_;
};

}  // namespace sabath
