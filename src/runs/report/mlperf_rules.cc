#include "report/mlperf_rules.h"

#include <array>

namespace sabath {
namespace {

constexpr std::array all{
    "submission_benchmark", "submission_org", "submission_division", "submission_status", "submission_platform",
    "cache_clear",          "init_start",     "init_stop",           "run_start",         "run_stop",
    "epoch_start",          "epoch_stop",     "eval_start",          "eval_stop",         "train_samples",
    "eval_samples",         "seed",           "global_batch_size",   "number_of_nodes",   "accelerators_per_node"};

constexpr std::array cosmoflow{"opt_name",
                               "opt_base_learning_rate",
                               "opt_learning_rate_warmup_epochs",
                               "opt_learning_rate_warmup_factor",
                               "opt_learning_rate_decay_boundary_epochs",
                               "opt_learning_rate_decay_factor",
                               "eval_error"};

constexpr std::array deepcam{"gradient_accumulation_frequency",
                             "batchnorm_group_size",
                             "opt_name",
                             "opt_lr",
                             "opt_betas",
                             "opt_eps",
                             "scheduler_type",
                             "scheduler_lr_warmup_steps",
                             "scheduler_lr_warmup_factor",
                             "eval_accuracy"};

constexpr std::array oc20{"opt_name",
                          "opt_base_learning_rate",
                          "opt_learning_rate_warmup_steps",
                          "opt_learning_rate_warmup_factor",
                          "opt_learning_rate_decay_boundary_steps",
                          "opt_learning_rate_decay_factor",
                          "eval_error"};

}  // namespace

std::vector<std::string_view> mlperf_keys(std::string_view benchmark) {
  std::vector<std::string_view> keys(all.begin(), all.end());
  if (benchmark == "cosmoflow") keys.insert(keys.end(), cosmoflow.begin(), cosmoflow.end());
  if (benchmark == "deepcam") keys.insert(keys.end(), deepcam.begin(), deepcam.end());
  if (benchmark == "oc20") keys.insert(keys.end(), oc20.begin(), oc20.end());
  return keys;
}

}  // namespace sabath
