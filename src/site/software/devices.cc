#include "software/devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "software/module_words.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t devices_max = 256, listed_max = 10'000;
constexpr std::uint64_t small_file_max = 4096;

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code unknown;
  for (const auto& entry : fs::directory_iterator(directory, unknown)) {
    if (names.size() < listed_max) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

// The first line of a file of /proc or /sys; empty: it cannot be read.
std::string line_of(const fs::path& file) {
  try {
    const auto text = try_read_text(file, small_file_max);
    return text ? printable(trim(std::string_view(*text).substr(0, text->find('\n')))) : "";
  } catch (const Error&) {
    return "";  // it is a fact that is not known, and no failure
  }
}

std::size_t numbered_devices(std::string_view begin) {
  const auto names = names_in("/dev");
  return static_cast<std::size_t>(std::ranges::count_if(names, [&](std::string_view name) {
    return name.starts_with(begin) && try_whole_number(name.substr(begin.size())).has_value();
  }));
}

// GPUs by the vendor of their render nodes: the kernel has them without a driver's program.
std::map<std::string, std::size_t> render_nodes() {
  std::map<std::string, std::size_t> vendors;
  for (const std::string& name : names_in("/sys/class/drm")) {
    if (name.starts_with("renderD")) ++vendors[line_of(fs::path("/sys/class/drm") / name / "device/vendor")];
  }
  return vendors;
}

void add_gpu_fact(SiteProfile& profile, std::size_t count, const std::string& kind, const std::string& known) {
  profile.machine.push_back({"gpus", fmt::format("{}", count), known});
  profile.machine.push_back({"gpu kind", kind, known});
}

std::string default_route() {
  constexpr std::uint64_t routes_max = 16U << 20U;
  const auto text_of = [&](const char* file) {
    try {
      return try_read_text(file, routes_max).value_or("");
    } catch (const Error&) {
      return std::string();
    }
  };
  return default_route_of(text_of("/proc/net/route"), text_of("/proc/net/ipv6_route"));
}

std::string first_line(const std::string& text) {
  return printable(trim(std::string_view(text).substr(0, text.find('\n'))));
}

void add_version(Programs& programs, SiteProfile& profile, const char* fact, std::vector<std::string> argv,
                 std::string_view line_with) {
  const std::string program = argv[0];
  const ProgramAnswer answer = programs.ask(std::move(argv), {}, 1 << 20);
  std::string value = answer.came ? first_line(answer.out) : "none";
  for (const std::string& line : answer.came ? parts_between(answer.out, '\n', 1000) : std::vector<std::string>())
    if (line.find(line_with) != std::string::npos) value = printable(line);
  profile.machine.push_back({fact, value, answer.came ? program : answer.why});
}

}  // namespace

std::string_view cuda_of_ompi_info(std::string_view text) {
  constexpr std::string_view key = "mpi_built_with_cuda_support:value:";
  const auto at = text.find(key);
  if (at == std::string_view::npos) return "";
  return text.substr(at + key.size()).starts_with("true") ? "yes" : "no";
}

void detect_mpi(Programs& programs, SiteProfile& profile) {
  const ProgramAnswer launcher = programs.ask({"mpirun", "--version"});
  profile.machine.push_back({"mpi", launcher.came ? first_line(launcher.out) : "none",
                             launcher.came ? launcher.program + " says so" : launcher.why});
  const ProgramAnswer info = programs.ask({"ompi_info", "--parsable", "--all"}, {}, 16U << 20U);
  const std::string_view cuda = cuda_of_ompi_info(info.out);
  if (info.came && !cuda.empty()) profile.machine.push_back({"mpi with cuda", std::string(cuda), "ompi_info says so"});
}

void detect_accelerators(Programs& programs, SiteProfile& profile) {
  const ProgramAnswer nvidia =
      programs.ask({"nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"});
  const auto vendors = render_nodes();
  const auto of_vendor = [&](const char* number) { return vendors.contains(number) ? vendors.at(number) : 0; };
  if (const auto names = nvidia.came ? parts_between(nvidia.out, '\n', devices_max) : std::vector<std::string>();
      !names.empty()) {
    add_gpu_fact(profile, names.size(), "cuda", "nvidia-smi says so");
    profile.machine.push_back({"gpu model", printable(names.front()), "nvidia-smi says so"});
  } else if (const auto nodes = numbered_devices("nvidia"); nodes != 0) {
    add_gpu_fact(profile, nodes, "cuda", fmt::format("files of /dev; nvidia-smi: {}", nvidia.why));
  } else if (const auto amd = of_vendor("0x1002"); amd != 0 && try_stat("/dev/kfd")) {
    add_gpu_fact(profile, amd, "rocm", "/dev/kfd and /sys/class/drm");
  } else if (const auto intel = of_vendor("0x8086"); intel != 0) {
    add_gpu_fact(profile, intel, "level-zero", "/sys/class/drm; it may be a processor's own");
  } else {
    add_gpu_fact(profile, 0, "none", fmt::format("no such file in /dev or /sys/class/drm; nvidia-smi: {}", nvidia.why));
  }
  add_version(programs, profile, "cuda", {"nvcc", "--version"}, "release");
  add_version(programs, profile, "rocm", {"hipconfig", "--version"}, "");
  std::string level_zero;
  for (const char* place : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"}) {
    const fs::path file = fs::path(place) / "libze_loader.so.1";
    if (level_zero.empty() && try_stat(file)) level_zero = file.string();
  }
  profile.machine.push_back(
      {"level-zero", level_zero.empty() ? "none" : level_zero, "the usual directories of libraries"});
}

void detect_interconnect(SiteProfile& profile) {
  std::vector<std::string> found;
  for (const char* kind : {"infiniband", "cxi", "hfi1_user"}) {
    const fs::path directory = fs::path("/sys/class") / kind;
    for (const std::string& name : names_in(directory)) {
      const std::string rate = line_of(directory / name / "ports/1/rate");
      if (is_plain_value(name)) found.push_back(fmt::format("{} {}{}{}", kind, name, rate.empty() ? "" : " ", rate));
    }
  }
  profile.machine.push_back({"interconnect", found.empty() ? "none" : fmt::format("{}", fmt::join(found, ", ")),
                             "/sys/class/infiniband, cxi, hfi1_user"});
}

std::string default_route_of(std::string_view ipv4, std::string_view ipv6) {
  constexpr std::size_t lines_max = 100'000, columns = 10;
  for (const std::string& line : parts_between(ipv4, '\n', lines_max)) {  // interface, destination, ..., mask
    const auto words = parts_between(line, '\t', columns);
    if (words.size() > 7 && words[1] == "00000000" && words[7] == "00000000" && is_plain_value(words[0]))
      return "a default route by " + words[0];
  }
  for (const std::string& line : parts_between(ipv6, '\n', lines_max)) {  // destination, its length, ..., interface
    const auto words = parts_between(line, ' ', columns);
    if (words.size() == columns && words[0] == std::string(32, '0') && words[1] == "00" && words[9] != "lo" &&
        is_plain_value(words[9]))
      return "a default route by " + words[9];
  }
  return "no default route";
}

std::string proxy_without_password(std::string_view url) {
  const auto scheme = url.find("://");
  const auto begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  std::string_view host = url.substr(begin);
  if (const auto at = host.rfind('@'); at != std::string_view::npos) {
    // Either side of the '@' may be secret.
    if (host.find_first_of("/?#") < at) return printable(std::string(url.substr(0, begin)) + "(not shown)");
    host.remove_prefix(at + 1);
  }
  const auto end = std::min(host.find_first_of("/?#"), host.size());
  const bool is_root = host.substr(end) == "/";
  return printable(std::string(url.substr(0, begin)) + std::string(host.substr(0, end + (is_root ? 1 : 0))));
}

void detect_network(const Environment& environment, SiteProfile& profile) {
  bool any = false;
  for (const char* name :
       {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"}) {
    const auto value = environment.get(name);
    if (!value) continue;
    any = true;
    const bool is_list = std::string_view(name).substr(0, 3) == "no_" || std::string_view(name).substr(0, 3) == "NO_";
    const bool as_it_is = is_list && value->find_first_of("@?#") == std::string::npos;  // networks have a '/'
    profile.machine.push_back({"proxy", as_it_is ? printable(*value) : proxy_without_password(*value), name});
  }
  if (!any) profile.machine.push_back({"proxy", "none", "no variable such as https_proxy is set"});
  profile.machine.push_back({"network", default_route(), "/proc/net/route and ipv6_route: nothing was sent"});
}

}  // namespace sabath
