// The machine that an environment is for, and which wheels run there: tags of PEP 425 and PEP 600 from the target's
// values, not from this machine's. Plain values; any thread. Throws Error{usage}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "environments/wheel_name.h"

namespace sabath {

struct WheelTarget {
  unsigned major = 3, minor = 0;
  std::string full_version;  // "3.11.7"; "3.11.0" where only 3.11 is known
  std::string machine;       // as uname(2) has it: "x86_64"
  bool is_musl = false;
  unsigned libc_major = 2, libc_minor = 0;
  bool is_free_threaded = false;

  [[nodiscard]] std::string python() const;  // "3.11", "3.13t"
  [[nodiscard]] std::string libc() const;    // "2.36"
};

// "3.11", "3.11.7", "3.13t": CPython 3.6 to 3.99.
void set_python(WheelTarget& target, std::string_view text);
// "x86_64", "linux-64", "aarch64", "linux_aarch64", "ppc64le", ...
void set_platform(WheelTarget& target, std::string_view text);
void set_libc(WheelTarget& target, std::string_view version, bool is_musl);  // "2.28"; musl's: "1.2"

[[nodiscard]] std::vector<std::string> wheel_platforms(const WheelTarget& target);  // "manylinux_2_28_x86_64", ...
[[nodiscard]] std::string wheel_abi(const WheelTarget& target);                     // "cp311"
[[nodiscard]] std::string conda_platform(const WheelTarget& target);  // "linux-64"; "noarch" packages fit, too

// The tags of a target in the order of preference: for many wheels of one target.
class WheelTags {
 public:
  explicit WheelTags(const WheelTarget& target);
  // The lower the better; nullopt: it does not run there.
  [[nodiscard]] std::optional<unsigned> rank(const WheelName& wheel) const;

 private:
  std::unordered_map<std::string, unsigned> ranks_;
};

}  // namespace sabath
