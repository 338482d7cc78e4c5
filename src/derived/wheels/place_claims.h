// Which package brings which file of a tree: no two bring one, and none brings a file where another has a folder. Any
// thread. Throws Error{invalid} with the names of both.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace sabath {

class PlaceClaims {
 public:
  // `places`: paths below the tree. Of what an interpreter brings no case is compared.
  void claim_for_interpreter(std::span<const std::string> places);
  void claim(const std::string& owner, std::span<const std::string> places);
  [[nodiscard]] std::string owner_of(const std::string& place) const;  // empty: no package

 private:
  [[noreturn]] static void refuse_both(const std::string& place, const std::string& one, const std::string& other);
  void claim_one(const std::string& owner, const std::string& place);
  mutable std::mutex mutex_;                                // of what follows
  std::map<std::string, std::string, std::less<>> owners_;  // by place
  std::map<std::string, std::string, std::less<>> keys_;    // place_key -> owner
  std::map<std::string, std::string, std::less<>> folders_;
};

}  // namespace sabath
