#include "fetch/decide/deal.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <utility>

namespace sabath {

namespace {

constexpr std::uint64_t cost_of_a_file = 64 * 1024;  // in bytes: a request and a publication
constexpr std::uint64_t size_assumed = 4ULL << 20;   // of a file whose size is not known
constexpr std::uint64_t shares_of_a_rank = 4;        // a file is shared if it is more than this part of a rank's work

std::uint64_t weight(const FileJob& job) {
  const std::uint64_t size = job.known ? job.known->digest.size_bytes : job.size_bytes.value_or(size_assumed);
  return size + cost_of_a_file;
}

using Load = std::pair<std::uint64_t, unsigned>;  // bytes, rank
using Least = std::priority_queue<Load, std::vector<Load>, std::greater<>>;

}  // namespace

bool for_rank_0_alone(const FileJob& job) { return job.follower != nullptr || job.inspect != nullptr; }

Deal deal_jobs(const std::vector<FileJob>& jobs, const std::vector<bool>& able) {
  Deal deal;
  deal.of_rank.resize(able.size());
  const auto ranks = static_cast<std::uint64_t>(std::ranges::count(able, true));
  std::uint64_t total = 0, load_of_0 = 0;
  for (const auto& job : jobs) total += weight(job);
  std::vector<std::size_t> dealt;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const FileJob& job = jobs[i];
    const bool several = job.known && job.known->digest.size_bytes > chunk_size_bytes;
    if (for_rank_0_alone(job)) {
      deal.of_rank[0].push_back(i);
      load_of_0 += weight(job);
    } else if (ranks > 1 && several && weight(job) > total / (shares_of_a_rank * ranks)) {
      deal.shared.push_back(i);
    } else {
      dealt.push_back(i);
    }
  }
  // The largest first, each to the rank that has least. Equal content goes to one rank, which fetches it once.
  std::ranges::stable_sort(dealt, std::greater<>{}, [&](std::size_t i) { return weight(jobs[i]); });
  Least least;
  for (unsigned r = 0; r < able.size(); ++r) {
    if (able[r]) least.emplace(r == 0 ? load_of_0 : 0, r);
  }
  std::unordered_map<Digest, unsigned> holder;
  for (const std::size_t i : dealt) {
    const auto [load, rank] = least.top();
    if (jobs[i].known) {
      const auto [held, first] = holder.try_emplace(jobs[i].known->digest, rank);
      if (!first) {
        deal.of_rank[held->second].push_back(i);
        continue;
      }
    }
    least.pop();
    least.emplace(load + weight(jobs[i]), rank);
    deal.of_rank[rank].push_back(i);
  }
  for (auto& own : deal.of_rank) std::ranges::sort(own);
  return deal;
}

}  // namespace sabath
