# Copyright 2026 The SABATH authors. BSD-3-Clause.
# For Spack 1.0 or newer: spack repo add packaging/spack/spack_repo/sabath && spack install sabath
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Sabath(CMakePackage):
    """Fetches, verifies and stages datasets and models of scientific machine learning, and runs benchmarks by recipe.
    MPI is loaded when a launcher starts it, and is not linked."""

    homepage = "https://sabath.example"  # not public yet: spack develop --path CHECKOUT sabath@main
    git = "https://sabath.example/sabath.git"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("mpi", default=True, description="Build the plug-ins that load an MPI, and the library for ranks")
    variant("library", default=True, description="Install the C++ and C libraries beside the program")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("curl@7.80: libs=shared tls=openssl")
    depends_on("openssl@1.1.1:")
    depends_on("nlohmann-json@3.9:")
    depends_on("fmt@8:")
    depends_on("cli11@2.1:")
    depends_on("xxhash")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("re2+shared")
    depends_on("libarchive")
    depends_on("libssh2")
    depends_on("libmicrohttpd+https")
    depends_on("libyaml")
    depends_on("hdf5@1.10.7:1.14 ~mpi")
    depends_on("mpi", when="+mpi")
    depends_on("git", type="run")

    conflicts("%gcc@:10", msg="SABATH is C++20: gcc 11 or newer")
    conflicts("%clang@:13", msg="SABATH is C++20: clang 14 or newer")

    generator("ninja")

    @property
    def build_targets(self):
        return ["sabath-cli", "sabath-library"] if self.spec.satisfies("+library") else ["sabath-cli"]

    def cmake_args(self):
        return [
            self.define_from_variant("SABATH_MPI", "mpi"),
            self.define("SABATH_TESTS", False),
            self.define("SABATH_BENCH", False),
            self.define("CMAKE_SKIP_INSTALL_ALL_DEPENDENCY", True),  # or ~library builds the library, too
            self.define("CMAKE_UNITY_BUILD", True),
            self.define("CMAKE_UNITY_BUILD_BATCH_SIZE", 40),
        ]

    def test_demo(self):
        """fetch, verify, stage and run what `sabath demo` makes"""
        which(self.prefix.bin.sabath, required=True)("demo", "-o", "sabath-demo", "--json")
