#include "comm/heartbeat.h"

#include <fmt/format.h>

#include <cstddef>
#include <thread>

#include "comm/parcel.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr unsigned roll_channel = 15;
constexpr std::chrono::milliseconds roll_time{700};
constexpr std::byte mark{};  // lives as long as a message of a rank that gives up

}  // namespace

Heartbeat::Names Heartbeat::names_of(Comm& some, unsigned rank, const std::string& name) {
  Names names;
  for (const auto& told : some.gather(Parcel().add(std::uint64_t{rank}).add(name).take())) {
    Parcel::Reader parcel(told);
    const auto its_rank = static_cast<unsigned>(parcel.number());
    names[its_rank] = parcel.text();
  }
  return names;
}

std::string Heartbeat::name_of(unsigned rank) const {
  const auto name = names_.find(rank);
  return name == names_.end() ? fmt::format("rank {}", rank) : name->second;
}

Heartbeat::Clock::duration Heartbeat::rest(bool moves) {
  return rest_ = moves ? Clock::duration(rest_min) : std::min(rest_ + rest_ / 2, rest_max_);
}

void Heartbeat::begin_numbers(std::span<const std::uint64_t> mine, Reduction how) {
  values_.assign(mine.begin(), mine.end());
  pending_ = comm_.begin_all_reduce(values_, how);
  looked_ = Clock::now();
  waited_ = {};
}

bool Heartbeat::ended() {
  if (pending_->done()) {
    pending_.reset();
    return true;
  }
  // After a stopped process goes on, hours may be gone: only the time in which it looked counts.
  const auto now = Clock::now();
  waited_ += std::min<Clock::duration>(now - looked_, std::chrono::milliseconds(100));
  looked_ = now;
  if (waited_ > patience_) call_roll();
  return false;
}

void Heartbeat::wait() {
  auto pause = std::chrono::microseconds(20);
  while (!ended()) {
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(2000));
  }
}

// Every live rank tells rank 0, which ends the job a moment later; if rank 0 is gone, the others end it.
void Heartbeat::call_roll() {
  const bool leads = comm_.rank() == 0;
  std::vector<std::byte> marks(comm_.size());
  std::vector<std::unique_ptr<Comm::Message>> messages;
  if (!leads) messages.push_back(comm_.begin_send({&mark, 1}, 0, roll_channel));
  for (unsigned r = 1; leads && r < comm_.size(); ++r)
    messages.push_back(comm_.begin_receive({&marks[r], 1}, r, roll_channel));
  for (const auto end = Clock::now() + (leads ? 1 : 2) * roll_time; Clock::now() < end;) {
    for (const auto& message : messages) static_cast<void>(message->done());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::string silent;
  for (unsigned r = 1; leads && r < comm_.size(); ++r) {
    if (!messages[r - 1]->done()) silent += (silent.empty() ? "" : ", ") + name_of(r);
  }
  const std::string said = leads ? fmt::format("{} has not answered", silent.empty() ? "a rank" : silent)
                                 : fmt::format("rank {} on {} has waited for another", comm_.rank(), comm_.host());
  throw Error(FailureKind::nodes,
              fmt::format("{} for {} s", said, std::chrono::duration_cast<std::chrono::seconds>(patience_).count()),
              "a process or a node is gone: run the same command again, what is verified is kept");
}

}  // namespace sabath
