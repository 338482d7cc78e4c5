"""Trees of modules and packages in the layouts of EESSI, EasyBuild and Spack, made below a directory, for real Lmod."""

import json

from support import module_tree

EESSI_VERSION = "2023.06"
# name: what it depends on, as EasyBuild's own naming scheme has them.
EASYBUILD = {
    "GCCcore/12.3.0": (),
    "GCCcore/13.2.0": (),
    "GCC/12.3.0": ("GCCcore/12.3.0",),
    "GCC/13.2.0": ("GCCcore/13.2.0",),
    "zlib/1.2.13-GCCcore-12.3.0": ("GCCcore/12.3.0",),
    "Python/3.11.3-GCCcore-12.3.0": ("GCCcore/12.3.0", "zlib/1.2.13-GCCcore-12.3.0"),
    "Python/3.11.5-GCCcore-13.2.0": ("GCCcore/13.2.0",),
    "OpenMPI/4.1.5-GCC-12.3.0": ("GCC/12.3.0",),
    "OpenMPI/4.1.6-GCC-13.2.0": ("GCC/13.2.0",),
    "gompi/2023a": ("GCC/12.3.0", "OpenMPI/4.1.5-GCC-12.3.0"),
    "foss/2023a": ("GCC/12.3.0", "OpenMPI/4.1.5-GCC-12.3.0"),
    "HDF5/1.14.0-gompi-2023a": ("gompi/2023a",),
    "CUDA/12.1.1": (),
    "UCX-CUDA/1.14.1-GCCcore-12.3.0-CUDA-12.1.1": ("GCCcore/12.3.0", "CUDA/12.1.1"),
    "TensorFlow/2.13.0-foss-2023a": ("foss/2023a", "Python/3.11.3-GCCcore-12.3.0"),
    "TensorFlow/2.15.1-foss-2023a-CUDA-12.1.1": ("foss/2023a", "CUDA/12.1.1", "Python/3.11.3-GCCcore-12.3.0"),
}
HIDDEN = "binutils/.2.40-GCCcore-12.3.0"


def easybuild(root, modules):
    """root/software/NAME/VERSION/easybuild, and Lua modules in `modules`."""
    for module, needs in EASYBUILD.items():
        name, version = module.split("/")
        (root / "software" / name / version / "easybuild").mkdir(parents=True)
        lines = [f"help([==[\n{name} is a package.\n]==])", f"whatis([==[Description: {name}]==])", f'local root = "{root}/software/{module}"',
                 f'conflict("{name}")']  # fmt: skip
        lines += [f'depends_on("{need}")' for need in needs]
        lines += [f'depends_on("{HIDDEN}")'] if name == "GCCcore" and "12.3" in version else []
        lines += ['prepend_path("CPATH", pathJoin(root, "include"))', f'setenv("EBROOT{name.upper().replace("-", "")}", root)',
                  f'setenv("EBVERSION{name.upper().replace("-", "")}", "{version}")', "-- Built with EasyBuild version 4.9.4"]  # fmt: skip
        module_tree.write(modules / f"{module}.lua", lines)
    module_tree.write(modules / f"{HIDDEN}.lua", ['conflict("binutils")', 'setenv("EBROOTBINUTILS", "/x")'])


def eessi(root):
    """root/versions/VERSION as of /cvmfs/software.eessi.io; its script of the beginning."""
    version = root / "versions" / EESSI_VERSION
    software, compat = version / "software/linux/x86_64/generic", version / "compat/linux/x86_64"
    easybuild(software, software / "modules/all")
    (compat / "usr/share").mkdir(parents=True)
    (compat / "usr/share/Lmod").symlink_to(module_tree.LMOD)
    module_tree.write(version / "init/bash", [
        'echo "Found EESSI repo"',
        f"export EESSI_VERSION={EESSI_VERSION} EESSI_PREFIX={version} EPREFIX={compat} EESSI_EPREFIX={compat}",
        f"export EESSI_SOFTWARE_PATH={software} EESSI_MODULEPATH={software}/modules/all EESSI_SOFTWARE_SUBDIR=x86_64/generic",
        "echo Initializing >> /dev/stdout",
        ". $EESSI_EPREFIX/usr/share/Lmod/init/bash",
        "module use $EESSI_MODULEPATH",
        'echo "Environment set up to use EESSI, have fun!"',
    ])  # fmt: skip
    return version / "init/bash"


# name: (version, hash, variants, what it needs)
SPACK = {
    "gcc": ("12.3.0", "aaaaaaabcdefghijklmnopqrstuvwxyz", {}, ()),
    "openmpi": ("4.1.6", "bbbbbbbbcdefghijklmnopqrstuvwxyz", {"cuda": True, "fabrics": ["ucx"]}, ("gcc",)),
    "hdf5": ("1.14.3", "cccccccbcdefghijklmnopqrstuvwxyz", {"mpi": True, "fortran": False}, ("openmpi",)),
    "paraview": ("5.11.2", "dddddddbcdefghijklmnopqrstuvwxyz", {}, ()),
}


def spack(root):
    """SPACK_ROOT with its database, and Tcl modules for all but one of its packages; their directory."""
    modules = root / "share/spack/modules/linux-debian12-x86_64"
    names = {name: f"{name}/{version}-gcc-12.3.0-{digest[:7]}" for name, (version, digest, *_) in SPACK.items()}
    installs = {}
    for name, (version, digest, variants, needs) in SPACK.items():
        installs[digest] = {"spec": {"name": name, "version": version, "parameters": {**variants, "cflags": []}, "hash": digest},
                            "installed": True, "explicit": True}  # fmt: skip
        if name == "paraview":
            continue
        lines = ["#%Module1.0", f"module-whatis {{{name}}}", f"conflict {name}"] + [f"depends-on {names[need]}" for need in needs]
        module_tree.write(modules / names[name], lines)
    database = root / "opt/spack/.spack-db/index.json"
    module_tree.write(database, [json.dumps({"database": {"version": "7", "installs": installs}})])
    return modules
