#include "stage/deal.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_map>

#include "base/hash.h"

namespace sabath::shard {

std::vector<std::uint32_t> deal(const std::vector<StagedFile>& files, std::uint64_t seed, unsigned nodes) {
  std::vector<std::uint64_t> keys;
  for (const auto& file : files) keys.push_back(xxh3_64(std::to_string(seed) + "\n" + file.path));
  std::vector<std::uint32_t> order(files.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(keys[a], files[a].path) < std::tie(keys[b], files[b].path);
  });
  std::vector<std::uint32_t> owners(files.size());
  for (std::size_t i = 0; i < order.size(); ++i) owners[order[i]] = static_cast<std::uint32_t>(i % nodes);
  return owners;
}

std::string part(const Manifest& manifest, const std::vector<StagedFile>& files,
                 const std::vector<std::uint32_t>& owners, unsigned node, unsigned nodes, unsigned overlap) {
  std::unordered_map<Digest, std::uint32_t> owner;
  for (std::size_t i = 0; i < files.size(); ++i) owner.emplace(files[i].digest, owners[i]);
  ManifestBuilder builder;
  manifest.for_each([&](const Entry& entry) {
    if (entry.type == EntryType::directory) return builder.add_directory(entry.path);
    if (entry.type == EntryType::symlink) return builder.add_symlink(entry.path, entry.target);
    if ((node + nodes - owner.at(entry.digest)) % nodes >= overlap) return;
    builder.add_file(entry.path, entry.digest, manifest.chunks(entry), entry.type == EntryType::executable);
  });
  return builder.bytes();
}

std::string plan_text(const Manifest& manifest, const std::vector<StagedFile>& files,
                      const std::vector<std::uint32_t>& owners, std::uint64_t seed, unsigned nodes, unsigned overlap) {
  nlohmann::ordered_json dealt = nlohmann::ordered_json::array();
  for (unsigned node = 0; node < nodes; ++node) dealt.push_back(nlohmann::ordered_json::array());
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (unsigned copy = 0; copy < std::min(overlap, nodes); ++copy) {
      dealt[(owners[i] + copy) % nodes].push_back(files[i].path);
    }
  }
  const nlohmann::ordered_json plan{{"schema", 1},        {"manifest", manifest.root().prefixed()},
                                    {"seed", seed},       {"nodes", nodes},
                                    {"overlap", overlap}, {"files", dealt}};
  return plan.dump(1) + "\n";
}

}  // namespace sabath::shard
