"""A tree of twelve modulefiles with a hierarchy, compiler -> MPI -> package, for Lmod and for environment-modules; and where
these two are on this machine."""

import glob
import os
import pathlib

TREE = pathlib.Path(__file__).resolve().parents[3]
LMOD = pathlib.Path("/usr/share/lmod/lmod")

# name: (directory, family, what it adds, needs, keywords, provides); directories are below the tree.
MODULES = {
    "gcc/12.3": ("Core", "compiler", "Compiler/gcc/12.3", (), "", ""),
    "gcc/13.2": ("Core", "compiler", "Compiler/gcc/13.2", (), "", ""),
    "cuda/11.8": ("Core", "", "", (), "", ""),
    "cuda/12.2": ("Core", "", "", (), "", ""),
    "cuda/13.0": ("Core", "", "", (), "", ""),
    "openmpi/4.1.6": ("Compiler/gcc/12.3", "mpi", "MPI/gcc12", ("cuda/12.2",), "cuda, ucx", ""),
    "openmpi/5.0.1": ("Compiler/gcc/13.2", "mpi", "MPI/gcc13", (), "ucx", ""),
    "fftw/3.3.10": ("Compiler/gcc/13.2", "", "", (), "", ""),
    "tensorflow/2.9": ("MPI/gcc12", "", "", ("cuda/12.2",), "", ""),
    "tensorflow/2.11": ("MPI/gcc12", "", "", ("cuda/12.2",), "", "keras/2.11"),
    "hdf5/1.14 of gcc 12": ("MPI/gcc12", "", "", (), "", ""),
    "hdf5/1.14": ("MPI/gcc13", "", "", (), "", ""),
}
ROWS = sorted(
    [[], ["gcc/12.3"], ["gcc/13.2"], ["gcc/12.3", "openmpi/4.1.6"], ["gcc/13.2", "openmpi/5.0.1"]][
        ("Core", "Compiler/gcc/12.3", "Compiler/gcc/13.2", "MPI/gcc12", "MPI/gcc13").index(directory)
    ]
    + [name.split()[0]]
    for name, (directory, *_) in MODULES.items()
)


def make_lua(root):
    for name, (directory, family, adds, needs, keywords, provides) in MODULES.items():
        lines = [f'whatis("Name: {name.split("/")[0]}")']
        lines += [f'family("{family}")'] if family else []
        lines += [f'whatis("Keywords: {keywords}")'] if keywords else []
        lines += [f'depends_on("{need}")' for need in needs]
        lines += [f'extensions("{provides}")'] if provides else []
        lines += [f'local root = "{root}"', f'prepend_path("MODULEPATH", pathJoin(root, "{adds}"))'] if adds else []
        write(root / directory / (name.split()[0] + ".lua"), lines)
    return root / "Core"


def make_tcl(root):
    for name, (directory, _, adds, needs, keywords, _) in MODULES.items():
        lines = ["#%Module1.0", f"conflict {name.split('/')[0]}"]
        lines += [f"module-whatis {{Keywords: {keywords}}}"] if keywords else []
        lines += [f"prereq {need}" for need in needs]
        lines += [f"set root {root}", f"prepend-path MODULEPATH $root/{adds}"] if adds else []
        write(root / directory / name.split()[0], lines)
    return root / "Core"


def write(file, lines):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n")


def lmod_variables(core):
    """What Lmod's own start sets; None: it is not installed."""
    if not (LMOD / "libexec/spider").is_file():
        return None
    return {"LMOD_DIR": str(LMOD / "libexec"), "LMOD_CMD": str(LMOD / "libexec/lmod"), "LMOD_PKG": str(LMOD), "LMOD_VERSION": "8",
            "MODULESHOME": str(LMOD), "MODULEPATH": str(core)}  # fmt: skip


def modulecmd():
    """environment-modules' program: installed, or unpacked by `scripts/setup modules`, because Debian has one of the two."""
    found = glob.glob("/usr/lib/*/modulecmd.tcl") + glob.glob(str(TREE / "build/modules/usr/lib/*/modulecmd.tcl"))
    named = os.environ.get("SABATH_MODULECMD")
    return named or (found[0] if found else None)
