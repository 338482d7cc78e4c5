// The request of `job` as a table, and its record.
#pragma once

#include "fields/fields.h"
#include "sabath/verbs/job.h"
#include "verbs/runs/job_record_fields.h"

namespace sabath {

// A count of bytes, or a text with its unit: a bare number in a text is refused.
void read_job_memory(const Field& field, JsonObject& request, void* at);
void parse_job_memory(const Field& field, const std::string& option, const std::string& text, void* at);
inline constexpr FieldType job_memory_type = [] {
  FieldType type = type_of<std::optional<std::uint64_t>>;
  type.read = read_job_memory;
  type.parse = parse_job_memory;
  return type;
}();

template <>
struct Described<JobRequest> {
  using Of = JobRequest;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("model", run.model,
                      .help = "a model or workflow; of a submitted job its directory or its model; leave it out for "
                              "the status of all jobs of the working directory",
                      .argument = "MODEL"),
      SABATH_FIELD_AS("dataset", run.dataset, .help = "what it runs on (default: the recipe's)", .argument = "DATASET"),
      SABATH_FIELD(dry_run, .help = "print the script, and touch nothing; the same without --submit", .letter = 'n'),
      SABATH_FIELD(submit, .help = "put it into the queue"),
      SABATH_FIELD(wait,
                   .help = "until it has ended; its exit code is this command's; also of a job submitted earlier"),
      SABATH_FIELD(status, .help = "say how a submitted job does; ends with 0, also where its EXIT is another"),
      SABATH_FIELD(cancel, .help = "take a submitted job from the queue, or end it"),
      SABATH_FIELD(scheduler, .help = "the batch system (default: the site profile's, else the one in PATH)",
                   .words = "slurm|pbs|flux|lsf"),
      SABATH_FIELD_AS("nodes", run.nodes, .help = "nodes (default: 1)", .maximum = 1U << 20U, .value = "N"),
      SABATH_FIELD_AS("ranks", run.ranks, .help = "ranks of the steps that are parallel, on all nodes together",
                      .maximum = 1U << 20U, .value = "N"),
      SABATH_FIELD(cores, .help = "cores of each rank", .maximum = 1U << 16U, .value = "N"),
      SABATH_FIELD(gpus, .help = "GPUs of each node", .maximum = 1U << 10U, .value = "N"),
      Field{.key = "memory",
            .type = &job_memory_type,
            .at = [](void* object) -> void* { return &static_cast<JobRequest*>(object)->memory_bytes; },
            .help = "memory of each node: 64G as in sbatch (2^30 bytes each), 64GiB, or 64GB (10^9)",
            .unit = "bytes",
            .value = "SIZE"},
      SABATH_FIELD(time, .help = "how long it may take, such as 2h30m (default: by plan and earlier runs here)",
                   .value = "TIME"),
      SABATH_FIELD(partition, .help = "partition or queue (default: the site profile's, else the scheduler's)",
                   .value = "NAME"),
      SABATH_FIELD(account, .help = "account, project or bank that pays", .value = "NAME"),
      SABATH_FIELD(after, .help = "start after this job, if it ends well", .value = "ID"),
      SABATH_FIELD(at_once, .help = "of a sweep: how many of its runs at the same time", .maximum = 1000, .value = "N"),
      SABATH_FIELD(fetch,
                   .help = "where data that are not here are fetched: in the job, in a job on the transfer partition "
                           "before it, by this command, or nowhere (default: as the site profile says)",
                   .words = "job|transfer|login|none"),
      SABATH_FIELD(transfer_partition, .help = "whose nodes see the internet", .value = "NAME"),
      SABATH_FIELD_AS("stage_to", stage,
                      .help = "stage the dataset to this directory of each node's disk; none: do not", .value = "DIR"),
      SABATH_FIELD(cap, .help = "how much may stay on a node's disk after the job, such as 500GB", .value = "SIZE"),
      SABATH_FIELD_AS("job_dir", run.directory,
                      .help = "the job's directory (default: job_MODEL_DATASET_ID in the working directory)",
                      .value = "DIR"),
      SABATH_FIELD_AS("set", run.settings, .help = "a setting of the recipe; KEY=A,B makes one run for each value",
                      .value = "KEY=VALUE"),
      SABATH_FIELD_AS("set_from", run.settings_file, .help = "settings from a JSON or YAML file; --set wins",
                      .value = "FILE"),
      SABATH_FIELD_AS("mode", run.mode, .help = "which run set of the recipe", .words = "train|infer"),
      SABATH_FIELD_AS("run_set", run.run_set, .help = "the run set with this key (default: the dataset's)",
                      .value = "KEY"),
      SABATH_FIELD_AS("from", run.from, .help = "an asset that the program starts from, as of `sabath run`",
                      .value = "ASSET"),
      SABATH_FIELD_AS("env", run.requirements,
                      .help = "a packed environment, staged beside the dataset; or what is done about modules and "
                              "packages, as of `sabath run`",
                      .value = "NAME|none|warn|check|create"),
      SABATH_FIELD_AS("checks", run.checks, .help = "what the recipe asks of the machine first, as of `sabath run`",
                      .words = "refuse|warn|none"),
      SABATH_FIELD_AS("launcher", run.launcher, .help = "auto, or a launcher of the site profile", .value = "NAME"),
      SABATH_FIELD_AS("container", run.container, .help = "run in a container, as of `sabath run`",
                      .value = "KIND:IMAGE"),
      SABATH_FIELD_AS("site", run.site, .help = "the site profile (default: SABATH_SITE, else by the host's name)",
                      .value = "NAME"),
      SABATH_FIELD_AS("lock", run.lock,
                      .help = "load the modules that this run loaded, in the same versions, as of `sabath run`",
                      .value = "RUN"),
      SABATH_FIELD(host,
                   .help =
                       "do it on this login node, by ssh: HOST, USER@HOST or an alias; recipe and lock go there, all "
                       "other paths are of that side",
                   .value = "LOGIN"),
      SABATH_FIELD_AS("trust", run.trust,
                      .help = "trust code that is not trusted yet, from now on (docs/trust.md): a queue cannot answer",
                      .words = "commit|origin"),
      SABATH_FIELD_AS("arguments", run.arguments, .help = "arguments for the recipe's last step", .argument = "-- ARG"),
      SABATH_FIELD_AS("environment", run.environment,
                      .help = "the variables that say where configuration and scheduler are; absent: those of this "
                              "process",
                      .hidden = true),
  };
};

}  // namespace sabath
