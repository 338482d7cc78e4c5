#include "fetch/transfer/trust.h"

#include <algorithm>
#include <utility>

namespace sabath {

void Trust::restart() {
  forget_leader();
  agreed_.clear();
  givers_.clear();
  held_.clear();
  versions_.clear();
  sample_ = {};
}

void Trust::asked(Mirror mirror) {
  if (leader_) return;
  leader_ = mirror;
  admit(mirror);
}

bool Trust::to_compare(Mirror mirror) const {
  return mixable_ && leader_ && !admitted_.contains(mirror) && !comparing_.contains(mirror);
}

// One that is being compared gives a chunk at most before it is believed.
bool Trust::may_give(Mirror mirror) const {
  if (!leader_ || admitted_.contains(mirror)) return true;
  return mixable_ && std::ranges::none_of(held_, [&](const Whole& whole) { return whole.givers.contains(mirror); });
}

void Trust::admit(Mirror mirror) {
  admitted_.insert(mirror);
  agreed_.insert(mirror);
}

bool Trust::take_lead(Mirror mirror) {
  if (leader_ == mirror) return false;
  leader_ = mirror;
  admitted_.clear();
  agreed_.clear();
  admit(mirror);
  return true;
}

void Trust::forget_leader() {
  leader_.reset();
  admitted_.clear();
}

bool Trust::wants_sample(const std::set<Mirror>& givers) const {
  return sample_.bytes.empty() && givers.size() == 1 && admitted_.contains(*givers.begin());
}

void Trust::keep_sample(std::uint64_t begin, std::span<const std::byte> bytes) {
  sample_ = {begin, {bytes.begin(), bytes.end()}};
}

bool Trust::believed(const std::set<Mirror>& givers) const { return std::ranges::includes(agreed_, givers); }

bool Trust::any_held() const {
  return std::ranges::any_of(held_, [this](const Whole& whole) { return believed(whole.givers); });
}

Whole Trust::take_held() {
  const auto found = std::ranges::find_if(held_, [this](const Whole& whole) { return believed(whole.givers); });
  Whole whole = std::move(*found);
  held_.erase(found);
  return whole;
}

std::vector<std::uint64_t> Trust::drop_held(const std::function<bool(Mirror)>& dead) {
  std::vector<std::uint64_t> chunks;
  std::erase_if(held_, [&](const Whole& whole) {
    const bool lost = std::ranges::any_of(whole.givers, [&](Mirror giver) { return dead(giver) && worthless(giver); });
    if (lost) chunks.push_back(whole.chunk);
    return lost;
  });
  return chunks;
}

Validators Trust::expected(Mirror mirror, const Validators& otherwise) const {
  if (doubts_version(mirror)) return {};
  const auto version = versions_.find(mirror);
  return version == versions_.end() ? otherwise : version->second;
}

bool Trust::same_version(Mirror mirror, const Validators& version) {
  if (doubts_version(mirror)) return true;
  return versions_.try_emplace(mirror, version).first->second == version;
}

bool Trust::doubt_version(Mirror mirror, bool something) {
  if (!mixable_) return false;
  nameless_.insert(mirror);
  if (something) admitted_.erase(mirror);
  return true;
}

Validators Trust::version_of_leader() const { return leader_ ? expected(*leader_, {}) : Validators{}; }

bool Trust::dismiss(Mirror mirror, bool wrong, bool others) {
  if (wrong) wrong_.insert(mirror);
  const bool led = leads(mirror);
  if (led) leader_.reset();
  if (admitted_.erase(mirror) + agreed_.count(mirror) == 0) return false;  // nothing of it was kept
  if (wrong) agreed_.erase(mirror);
  // Another takes over from the start; where there is none, what came is kept for a better day.
  return wrong || (led && !mixable_ && others);
}

std::optional<Trust::Mirror> Trust::whole_was_wrong(bool some_was_left) {
  mixable_ = false;
  const bool of_one_version = std::exchange(nameless_, {}).empty();
  if (givers_.size() == 1 && !some_was_left && of_one_version) return *givers_.begin();
  suspects_ = givers_;
  return std::nullopt;
}

std::map<Trust::Mirror, Failure> Trust::hear_differing_alone() {
  if (!differing_.empty()) {
    mixable_ = false;
    nameless_.clear();
  }
  return std::exchange(differing_, {});
}

}  // namespace sabath
