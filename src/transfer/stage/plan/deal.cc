#include "stage/plan/deal.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/hash.h"

namespace sabath::shard {
namespace {

void add_new(std::vector<std::uint32_t>& members, std::uint32_t member) {
  if (std::ranges::find(members, member) == members.end()) members.push_back(member);
}

}  // namespace

void follow_owners(Comm& nodes, unsigned my_node, unsigned owner, std::vector<std::uint64_t>& node_of_rank) {
  const std::uint64_t count = std::ranges::max(node_of_rank) + 1;
  std::vector<std::uint64_t> told(count + nodes.size());  // the owner of each node, then the node of each leader
  told[my_node] = owner;
  told[count + nodes.rank()] = my_node;
  nodes.all_reduce(told, Reduction::maximum);
  for (auto& node : node_of_rank) node = told[count + told[node]];
}

Shares shares_of(Comm& members, unsigned my_node, const std::vector<std::uint64_t>& node_of_rank) {
  Shares shares;
  if (node_of_rank.empty()) {
    shares.member.resize(members.size());
    std::iota(shares.member.begin(), shares.member.end(), 0U);
    return shares;
  }
  std::vector<std::uint64_t> member_of_node(std::ranges::max(node_of_rank) + 1);  // one more than it is; 0: none
  member_of_node[my_node] = members.rank() + 1;
  members.all_reduce(member_of_node, Reduction::maximum);
  for (std::uint32_t rank = 0; rank < node_of_rank.size(); ++rank) {
    const std::uint64_t member = member_of_node[node_of_rank[rank]];
    if (member == 0) continue;
    shares.member.push_back(static_cast<std::uint32_t>(member - 1));
    shares.ranks.push_back(rank);
  }
  return shares;
}

std::vector<std::uint32_t> deal(const std::vector<StagedFile>& files, std::uint64_t seed, unsigned shares) {
  std::vector<std::uint64_t> keys;
  for (const auto& file : files) keys.push_back(xxh3_64(std::to_string(seed) + "\n" + file.path));
  std::vector<std::uint32_t> order(files.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(keys[a], files[a].path) < std::tie(keys[b], files[b].path);
  });
  std::vector<std::uint32_t> owners(files.size());
  for (std::size_t i = 0; i < order.size(); ++i) owners[order[i]] = static_cast<std::uint32_t>(i % shares);
  return owners;
}

std::vector<std::uint32_t> Shares::members_of(std::uint32_t share) const {
  std::vector<std::uint32_t> members;
  for (std::uint32_t copy = 0; copy < overlap; ++copy) add_new(members, member[(share + copy) % member.size()]);
  return members;
}

Hands hands_of(const std::vector<StagedFile>& contents, const std::vector<StagedFile>& paths,
               const std::vector<std::uint32_t>& owners, const Shares& shares) {
  std::unordered_map<Digest, std::vector<std::uint32_t>> wanted;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (const std::uint32_t member : shares.members_of(owners[i])) add_new(wanted[paths[i].digest], member);
  }
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers;
  for (const auto& [digest, hand] : wanted) numbers.emplace(hand, 0);
  Hands all;
  for (auto& [hand, number] : numbers) {
    number = static_cast<std::uint32_t>(all.hands.size());
    all.hands.push_back(hand);
  }
  for (const auto& content : contents) all.hand.push_back(numbers.at(wanted.at(content.digest)));
  return all;
}

std::string part(const Manifest& manifest, const std::function<bool(const Entry&)>& has) {
  ManifestBuilder builder;
  manifest.for_each([&](const Entry& entry) {
    if (entry.type == EntryType::directory) return builder.add_directory(entry.path);
    if (entry.type == EntryType::symlink) return builder.add_symlink(entry.path, entry.target);
    if (!has(entry)) return;
    builder.add_file(entry.path, entry.digest, manifest.chunks(entry), entry.type == EntryType::executable);
  });
  return builder.bytes();
}

std::string part(const Manifest& manifest, const std::vector<std::uint32_t>& owners, const Shares& shares,
                 std::uint32_t member) {
  std::size_t next = 0;  // the manifest's files come in the order of paths_of()
  return part(manifest, [&](const Entry&) {
    const auto members = shares.members_of(owners[next++]);
    return std::ranges::find(members, member) != members.end();
  });
}

std::string plan_text(const Manifest& manifest, const std::vector<StagedFile>& paths,
                      const std::vector<std::uint32_t>& owners, const Shares& shares, std::uint64_t seed) {
  const std::size_t count = shares.member.size();
  std::vector<std::vector<std::string>> dealt(count);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (std::uint32_t copy = 0; copy < shares.overlap; ++copy) {
      dealt[(owners[i] + copy) % count].push_back(paths[i].path);
    }
  }
  const auto nodes = std::set(shares.member.begin(), shares.member.end()).size();
  nlohmann::ordered_json plan{
      {"schema", 1}, {"manifest", manifest.root().prefixed()}, {"seed", seed}, {"nodes", nodes}};
  if (!shares.ranks.empty()) plan["ranks"] = shares.ranks;
  plan["overlap"] = shares.overlap;
  plan["files"] = dealt;
  return plan.dump(1) + "\n";
}

}  // namespace sabath::shard
