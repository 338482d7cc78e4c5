#include "demo/surroundings.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sabath::demo {
namespace {

// Of the caller's settings none counts but the MPI's; a command here is no rank of the caller's job; and no proxy
// stands before loopback.
bool is_left_out(std::string_view name) {
  constexpr std::array<std::string_view, 10> prefixes{"SABATH_", "OMPI_", "PMI_", "PMIX_", "PRTE_",
                                                      "SLURM_",  "PBS_",  "LSB_", "FLUX_", "HYDRA_"};
  constexpr std::array<std::string_view, 6> proxies{"http_proxy", "https_proxy", "all_proxy",
                                                    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"};
  if (name == "SABATH_LIBMPI" || name.starts_with("OMPI_MCA_")) return false;
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::ranges::find(proxies, name) != proxies.end();
}

}  // namespace

Surroundings surroundings_of(const std::filesystem::path& program, const std::filesystem::path& directory,
                             const std::map<std::string, std::string>& variables, const std::stop_token& stop) {
  std::map<std::string, std::string> kept;
  for (const auto& [name, value] : variables) {
    if (!is_left_out(name)) kept[name] = value;
  }
  const std::string& path = kept["PATH"];
  kept["PATH"] = program.parent_path().string() + (path.empty() ? ":/usr/bin:/bin" : ":" + path);
  kept["SABATH_CACHE"] = directory / "store";
  kept["SABATH_RECIPES"] = directory / "recipes";
  kept["SABATH_CONFIG"] = directory / "config.json";
  // Four ranks on a machine of any size, also root's: they run this program and nothing else.
  for (const char* name :
       {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"})
    kept[name] = "1";
  kept["OMPI_MCA_hwloc_base_binding_policy"] = "none";
  kept["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe";
  kept["PRTE_MCA_hwloc_default_binding_policy"] = "none";
  Surroundings result{program, directory, {}, stop, kept["PATH"]};
  for (const auto& [name, value] : kept) result.environment.push_back(name + "=" + value);
  return result;
}

}  // namespace sabath::demo
