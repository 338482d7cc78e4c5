// The checks that are built in: a table of them, and what each subject's file has of it. Each says how it knows. What
// could crash is loaded in a child, never here. One thread. Throws Error{interrupted}.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "checks/check.h"
#include "checks/program_answer.h"

namespace sabath {

// As builtin_check_names() of the recipe has it.
[[nodiscard]] CheckFound find_builtin(const RecipeCheck& check, const CheckPlace& place);
// True if the run's Python answers it.
[[nodiscard]] bool asks_python(const RecipeCheck& check);

[[nodiscard]] CheckFound find_mpi_cuda_aware(const RecipeCheck& check, const CheckPlace& place);
[[nodiscard]] CheckFound find_ranks_per_node(const RecipeCheck& check, const CheckPlace& place);
[[nodiscard]] CheckFound find_ucx_gdrcopy(const RecipeCheck& check, const CheckPlace& place);
[[nodiscard]] CheckFound find_horovod(const RecipeCheck& check, const CheckPlace& place);
[[nodiscard]] CheckFound find_torch_cuda(const RecipeCheck& check, const CheckPlace& place);
[[nodiscard]] CheckFound find_nccl(const RecipeCheck& check, const CheckPlace& place);
[[nodiscard]] CheckFound find_disk_local(const RecipeCheck& check, const CheckPlace& place);
[[nodiscard]] CheckFound find_memory(const RecipeCheck& check, const CheckPlace& place);

// `order`: below 0, 0 or above 0, as what was found compares with the bound.
[[nodiscard]] bool holds(std::string_view relation, int order);
[[nodiscard]] bool meets_version(const RecipeCheck& check, std::string_view version);  // also without a bound
[[nodiscard]] bool meets_number(const RecipeCheck& check, std::uint64_t number, std::uint64_t bound);

// The program of this name in the PATH of the run, or in the directory of `beside` if that has it; may be empty.
[[nodiscard]] std::string program_of_run(const CheckPlace& place, const std::string& name,
                                         const std::string& beside = {});
[[nodiscard]] CheckAnswer ask_of_run(const CheckPlace& place, const std::vector<std::string>& argv,
                                     std::string& trouble, std::size_t keep = answer_bytes_kept);

}  // namespace sabath
