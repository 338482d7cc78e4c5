#include "stage/simulation/measured_sites.h"

namespace sabath {

std::span<const MeasuredStaging> measured_stagings() {
  static constexpr MeasuredStaging all[] = {
      {"v0.7", "CoriGPU (LBNL)", 8, 958.7, 979.6, 1073.8, 5.6, "files dealt, copied to NVMe"},
      {"v0.7", "ABCI (Fujitsu), 512 V100", 128, 45.4, 45.9, 130.1, 120, "tar.xz of each universe, into memory"},
      {"v0.7", "ABCI (Fujitsu), 2048 V100", 512, 12.0, 12.2, 12.8, 450, "tar.xz of each universe, into memory"},
      {"v0.7", "Fugaku (RIKEN)", 512, 87.7, 90.5, 102.5, 61, "8192 tar.xz shards, into memory"},
      {"v0.7", "Fugaku (Fujitsu)", 8192, 0, 226.1, 0, 0, "tar.xz; groups of nodes share a shard set"},
      {"v0.7", "Fugaku (Fujitsu)", 16384, 0, 53.6, 0, 0, "tar.xz; groups of nodes share a shard set"},
      {"v1.0", "Fugaku, strong", 512, 54.2, 56.2, 61.2, 176, "tar.xz, into memory"},
      {"v1.0", "Fugaku, weak, each of 637 x 128", 128, 64, 68.1, 72.1, 0,
       "one instance reads, MPI_Bcast to the others"},
      {"v1.0", "JUWELS Booster, 512 GPU", 128, 71.8, 78.4, 83.3, 112, "ranges of one HDF5 file, from a burst buffer"},
      {"v1.0", "JUWELS Booster, 1024 GPU", 256, 124.8, 134.9, 187.2, 65,
       "ranges of one HDF5 file, from a burst buffer"},
      {"v1.0", "Perlmutter, 1024 GPU", 256, 75.0, 75.7, 91.5, 116, "npy files dealt, Lustre (flash) to memory"},
      {"v1.0", "Perlmutter, 10 instances x 128", 1280, 101.2, 102.6, 110.0, 0, "the same, ten copies at once"},
      {"v1.0", "Selene (NVIDIA)", 128, 0, 93.9, 0, 94, "npy files, to memory or NVMe"},
      {"v1.0", "Selene (NVIDIA)", 16, 0, 349.2, 0, 25, "npy files, to memory or NVMe"},
      {"v1.0", "Selene, weak 32 x 16", 512, 546.6, 580.4, 646.2, 0, "npy files, an instance's copy each"},
      {"v1.0", "Longhorn (TACC)", 32, 179.3, 201.6, 426.1, 8.3, "files dealt, gzip, to SSD"},
      {"v2.0", "Selene (NVIDIA)", 64, 13.3, 14.4, 15.6, 116, "gzip, 32 threads"},
      {"v2.0", "HoreKa", 128, 24.5, 26.7, 29.1, 62, "gzip, or ranges of HDF5: not recorded"},
      {"v3.0", "Perlmutter (HPE, LBNL)", 128, 5.0, 5.1, 6.0, 327, "gzip, 32 threads a rank, Lustre to memory"},
      {"v3.0", "Eos (NVIDIA)", 64, 11.5, 13.5, 14.4, 124, "gzip, 32 threads a rank"},
  };
  return all;
}

}  // namespace sabath
