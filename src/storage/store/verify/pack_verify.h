// Reading packs again: every byte, every member. docs/store.md, "Verification and quarantine". Private to
// src/storage/store; the workers are inside. Throws what a Scrub throws.
#pragma once

#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "store/state.h"
#include "store/verify/scrub.h"
#include "store/verify/verify.h"

namespace sabath {

class PackVerify {
 public:
  PackVerify(Store::State& store, VerifyReport& report, const VerifyOptions& options, Scrub& scrub)
      : store_(store), report_(report), options_(options), scrub_(scrub) {}

  void add_all();  // every pack of the store
  // Reads the pack that holds it; of its members, only added ones count as files. False: no pack holds it.
  bool add(const Digest& content, const std::string& path);
  void run(const std::vector<Manifest>& manifests);  // they give paths to bad content that was added without

 private:
  struct Task {
    std::shared_ptr<const Pack> pack;
    bool all = false;
    std::vector<std::pair<Digest, std::string>> wanted;
  };
  void work();
  void read(const Task& task);
  void judge(const Task& task, const PackScan& scan, const struct stat& before);
  void remember(const Pack& pack, const struct stat& before);

  Store::State& store_;
  VerifyReport& report_;
  const VerifyOptions& options_;
  Scrub& scrub_;
  std::map<Digest, Task> tasks_;  // by the pack's name
  std::mutex mutex_;              // of what follows, and of the report
  std::map<Digest, Task>::iterator next_;
  std::vector<std::pair<Digest, std::string>> lost_;  // with a path, if it is known
  std::exception_ptr failure_;
};

}  // namespace sabath
