#include "checks/builtin.h"

#include <array>
#include <filesystem>

#include "base/file.h"
#include "base/process.h"
#include "software/version.h"

namespace sabath {
namespace {

struct BuiltinCheck {
  std::string_view name;
  CheckFound (*find)(const RecipeCheck&, const CheckPlace&);
  bool asks_python = false;
};

constexpr std::array<BuiltinCheck, 8> builtin_checks{{
    {"mpi.cuda_aware", find_mpi_cuda_aware},
    {"mpi.ranks_per_node", find_ranks_per_node},
    {"ucx.gdrcopy", find_ucx_gdrcopy},
    {"horovod", find_horovod, true},
    {"torch.cuda", find_torch_cuda, true},
    {"nccl", find_nccl, true},
    {"disk.local", find_disk_local},
    {"memory", find_memory},
}};

constexpr std::chrono::seconds builtin_patience{60};  // to import a framework from a busy filesystem takes its time

const BuiltinCheck* try_find(const RecipeCheck& check) {
  const auto found = std::ranges::find(builtin_checks, check.name, &BuiltinCheck::name);
  return found == builtin_checks.end() || !check.argv.empty() ? nullptr : &*found;
}

}  // namespace

CheckFound find_builtin(const RecipeCheck& check, const CheckPlace& place) {
  const BuiltinCheck* const builtin = try_find(check);
  return builtin == nullptr ? CheckFound{} : builtin->find(check, place);
}

bool asks_python(const RecipeCheck& check) {
  const BuiltinCheck* const builtin = try_find(check);
  return builtin != nullptr && builtin->asks_python;
}

bool holds(std::string_view relation, int order) {
  if (relation == ">=") return order >= 0;
  if (relation == "<=") return order <= 0;
  if (relation == ">") return order > 0;
  if (relation == "<") return order < 0;
  return relation != "==" || order == 0;  // none: any version
}

bool meets_version(const RecipeCheck& check, std::string_view version) {
  if (check.relation.empty()) return true;
  return !version.empty() && holds(check.relation, compare_versions(version, check.bound));
}

bool meets_number(const RecipeCheck& check, std::uint64_t number, std::uint64_t bound) {
  return holds(check.relation, number < bound ? -1 : number > bound ? 1 : 0);
}

std::string program_of_run(const CheckPlace& place, const std::string& name, const std::string& beside) {
  if (!beside.empty()) {
    const std::string there = (std::filesystem::path(beside).parent_path() / name).string();
    if (try_stat(there)) return there;
  }
  const auto path = place.environment.find("PATH");
  return find_program(name, path == place.environment.end() ? "" : path->second);
}

CheckAnswer ask_of_run(const CheckPlace& place, const std::vector<std::string>& argv, std::string& trouble,
                       std::size_t keep) {
  const CheckAsked asked{.argv = argv,
                         .environment = place.environment,
                         .directory = place.directory,
                         .companion = place.companion,
                         .patience = builtin_patience,
                         .keep = keep};
  CheckAnswer answer = ask_program(asked, place.stop);
  trouble = trouble_of(answer, asked);
  return answer;
}

}  // namespace sabath
