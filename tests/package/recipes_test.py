#!/usr/bin/python3
"""The recipes of packaging/, read by the tools that they are for, as far as these are here; skipped where none is.

recipes_test.py: read, resolved, rendered: what takes seconds.
recipes_test.py build: the Debian package is built, too (by hand: `scripts/test --part recipes`, minutes).
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = TREE / "packaging"
SKIPPED = 77
LMOD = "/usr/share/lmod/lmod/libexec/lmod"
RENDER = """
import sys, rattler_build as r
variants = r.VariantConfig.from_yaml("c_stdlib: [sysroot]\\nc_stdlib_version: ['2.28']\\n")
(rendered,) = r.Stage0Recipe.from_file(sys.argv[1]).render(variants, r.RenderConfig())
recipe = rendered.recipe.to_dict()
needs = recipe["requirements"]
assert not {"openmpi", "mpich"} & set(needs["host"]) - set(needs["ignore_run_exports"]["from_package"]), needs
assert recipe["source"][0]["url"].startswith("file://") and len(recipe["source"][0]["sha256"]) == 64, recipe["source"]
"""
SPACK = "import runpy; assert runpy.run_path({!r}, run_name='spack_repo.sabath.packages.sabath.package')['Sabath'].homepage"


class Missing(Exception):
    """What a check needs, and this machine has not."""


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing(f"there is no {program}")


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    assert done.returncode == 0, f"{command} ended with {done.returncode}: {done.stdout[-4000:]}"
    return done.stdout


def sources(directory):
    run(PACKAGING / "make-source", directory)
    (archive,) = directory.glob("sabath-*.tar.gz")
    return archive


def spack(_):
    need("spack")
    run("spack", "python", "-c", SPACK.format(str(PACKAGING / "spack/spack_repo/sabath/packages/sabath/package.py")))


def easybuild(directory):
    need("eb")
    if not os.path.exists(LMOD):
        raise Missing("EasyBuild wants a module system: lmod")
    sources(directory)
    files = [str(file) for file in (directory / "easybuild").glob("*.eb")]
    (own,) = (file for file in files if "SABATH" in file)
    eb = ["eb", *(["--allow-use-as-root-and-accept-consequences"] if os.geteuid() == 0 else [])]
    environment = {**os.environ, "LMOD_CMD": LMOD, "HOME": str(directory)}
    run(*eb, "--check-contrib", *files, env=environment)
    plan = run(*eb, f"--robot={directory}/easybuild:", "--dry-run-short", own, env=environment)  # ends with 1 where one lacks
    for file in files:
        assert f"{file} (module: " in plan, plan


def conda(directory):
    need("python3")
    if subprocess.run(["python3", "-c", "import rattler_build"], capture_output=True).returncode:
        raise Missing("python3 has no rattler_build (py-rattler-build)")
    sources(directory)
    run("python3", "-c", RENDER, directory / "conda/recipe.yaml")


def debian_tree(directory):
    """As a packager has it: the sources as upstream's file, and debian/ beside them."""
    need("dpkg-buildpackage", "dh")
    archive = sources(directory)
    version = archive.name.split("-")[1].removesuffix(".tar.gz")
    archive.rename(directory / f"sabath_{version}.orig.tar.gz")
    run("tar", "-xf", f"sabath_{version}.orig.tar.gz", cwd=directory)
    tree = directory / f"sabath-{version}"
    shutil.copytree(tree / "packaging/debian", tree / "debian")
    return tree


def debian(directory):
    run("dpkg-buildpackage", "-S", "-d", "-us", "-uc", cwd=debian_tree(directory))
    assert len(list(directory.glob("sabath_*.dsc"))) == 1


def debian_package(directory):
    tree = debian_tree(directory)
    run("dpkg-checkbuilddeps", cwd=tree)
    run("dpkg-buildpackage", "-us", "-uc", cwd=tree)
    (package,) = directory.glob("sabath_*.deb")
    listed = run("dpkg-deb", "--contents", package)
    for file in ("/usr/bin/sabath", "libsabath-mpi-openmpi.so", "/usr/share/man/man1/sabath.1.gz", "/usr/share/sabath/shipped/"):
        assert file in listed, f"{file}: {listed}"
    run("dpkg-deb", "--extract", package, directory / "root")
    assert run(directory / "root/usr/bin/sabath", "--version").startswith("sabath ")


def apptainer(directory):
    need("apptainer")
    trees = sorted((TREE / "build/package").glob("sabath-*-linux-x86_64.tar.xz"))
    if not trees:
        raise Missing("build/package has no packed tree: scripts/package makes one")
    shutil.copy(trees[-1], directory)
    run("apptainer", "build", directory / "sabath.sif", PACKAGING / "apptainer/sabath.def", cwd=directory)


def main():
    tried = 0
    for check in (spack, easybuild, conda, debian, *((debian_package, apptainer) if sys.argv[1:] == ["build"] else ())):
        with tempfile.TemporaryDirectory() as name:
            try:
                check(pathlib.Path(name))
            except Missing as why:
                print(f"SKIP: {check.__name__}: {why}", flush=True)
            else:
                print(f"{check.__name__}: ok", flush=True)
                tried += 1
    sys.exit(0 if tried else SKIPPED)


if __name__ == "__main__":
    main()
