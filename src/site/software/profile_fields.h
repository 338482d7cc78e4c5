// The fields of a profile: one table reads and writes it, and the documents show it.
#pragma once

#include "fields/fields.h"
#include "sabath/verbs/site.h"

namespace sabath {

template <>
struct Described<Software> {
  using Of = Software;
  static bool opens_early(const Of& object) { return object.opens_first; }
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "as it is called here", .required = true),
      SABATH_FIELD(version, .help = "of it", .null_if_empty = true, .absent_if_empty = true),
      SABATH_FIELD(module, .help = "what `module load` takes; absent: no module has it", .null_if_empty = true,
                   .absent_if_empty = true),
      SABATH_FIELD_AS("requires", chain, .help = "modules that are loaded before it, in this order",
                      .null_if_empty = true, .absent_if_empty = true),
      SABATH_FIELD(needs, .help = "modules that it loads or asks for by itself", .null_if_empty = true,
                   .absent_if_empty = true),
      SABATH_FIELD(opens_first, .help = "what is below it is there before it loads what it needs",
                   .only_if = SABATH_IF(opens_early)),
      SABATH_FIELD(conflicts, .help = "modules that may not be loaded beside it", .null_if_empty = true,
                   .absent_if_empty = true),
      SABATH_FIELD(family, .help = "one module of a family at a time", .null_if_empty = true, .absent_if_empty = true),
      SABATH_FIELD(features, .help = "such as cuda", .null_if_empty = true, .absent_if_empty = true),
      SABATH_FIELD(provides, .help = "what else it brings, as NAME/VERSION", .null_if_empty = true,
                   .absent_if_empty = true),
      SABATH_FIELD(program, .help = "the interpreter that has this package", .null_if_empty = true,
                   .absent_if_empty = true),
      SABATH_FIELD(known, .help = "how that is known", .null_if_empty = true, .absent_if_empty = true),
  };
};

template <>
struct Described<SiteFact> {
  using Of = SiteFact;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "of the fact: gpus, interconnect", .required = true),
      SABATH_FIELD(value, .help = "what is here", .null_if_empty = true),
      SABATH_FIELD(known, .help = "how that is known", .null_if_empty = true),
  };
};

template <>
struct Described<SiteDisk> {
  using Of = SiteDisk;
  static constexpr Field table[] = {
      SABATH_FIELD(path, .help = "a directory of it", .required = true),
      SABATH_FIELD(filesystem, .help = "its kind", .null_if_empty = true),
      SABATH_FIELD(device, .help = "NVMe, SSD or rotating", .null_if_empty = true, .absent_if_empty = true),
      SABATH_FIELD(bytes, .help = "of the whole", .unit = "bytes"),
      SABATH_FIELD(bytes_free, .help = "for this user", .unit = "bytes"),
      SABATH_FIELD(quota_bytes_left, .help = "of the tightest quota", .unit = "bytes"),
      SABATH_FIELD(in_memory, .help = "its files take memory"),
      SABATH_FIELD(shared, .help = "other nodes see it"),
      SABATH_FIELD(known, .help = "how that is known", .null_if_empty = true),
  };
};

template <>
struct Described<SitePartition> {
  using Of = SitePartition;
  static bool looks_like_transfer(const Of& object) { return object.transfer; }
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "of the partition or queue", .required = true),
      SABATH_FIELD(usual, .help = "the scheduler takes it if none is named"),
      SABATH_FIELD(nodes, .help = "of it"),
      SABATH_FIELD(cpus, .help = "of a node"),
      SABATH_FIELD(memory_bytes, .help = "of a node", .unit = "bytes"),
      SABATH_FIELD(gpus, .help = "of a node"),
      SABATH_FIELD(time_limit_seconds, .help = "of a job; null: no limit", .unit = "seconds"),
      SABATH_FIELD(transfer, .help = "it looks like one for copying data; `known` says by what",
                   .only_if = SABATH_IF(looks_like_transfer)),
      SABATH_FIELD(known, .help = "how that is known", .null_if_empty = true),
  };
};

template <>
struct Described<SiteInterpreter> {
  using Of = SiteInterpreter;
  static constexpr Field table[] = {
      SABATH_FIELD(program, .help = "its file", .required = true),
      SABATH_FIELD(version, .help = "of it", .null_if_empty = true),
      SABATH_FIELD(packages, .help = "their versions, by their names"),
      SABATH_FIELD(known, .help = "how that is known", .null_if_empty = true),
  };
};

template <>
struct Described<PassedOver> {
  using Of = PassedOver;
  static constexpr Field table[] = {
      SABATH_FIELD(what, .help = "a file or directory", .required = true),
      SABATH_FIELD(why, .help = "the reason, with its owner", .null_if_empty = true),
  };
};

template <>
struct Described<SiteProfile> {
  using Of = SiteProfile;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "of the profile", .required = true),
      SABATH_FIELD(description, .help = "for people", .null_if_empty = true),
      SABATH_FIELD(hosts, .help = "patterns of the hosts it is of"),
      SABATH_FIELD(module_script, .help = "bash sources it, and it defines `module`", .null_if_empty = true),
      SABATH_FIELD(launcher, .help = "the usual one", .null_if_empty = true),
      SABATH_FIELD(machine, .help = "facts, each with how it is known"),
      SABATH_FIELD(disks, .help = "directories for data"),
      SABATH_FIELD(partitions, .help = "of the scheduler"),
      SABATH_FIELD(interpreters, .help = "with their packages"),
      SABATH_FIELD(software, .help = "modules, and what else was found"),
      SABATH_FIELD(passed_over, .help = "what was found, and neither started nor loaded"),
  };
};

}  // namespace sabath
