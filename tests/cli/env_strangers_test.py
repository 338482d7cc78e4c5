#!/usr/bin/python3
"""What strangers wrote is packed by its proven bytes, starts no code, and shows no file of others."""

import shutil
import struct
import subprocess

from support import python_prefix
from support.case import main
from support.packed_lock import PackLock, skip_without_tools

setUpModule = skip_without_tools


class Strangers(PackLock):
    def test_bytes_that_change_after_they_were_verified(self):
        wheel = self.flute()
        other = self.wheel("flute", files={"flute/__init__.py": b"print('other bytes')\n"}).read_bytes()
        true = self.flute().read_bytes()
        objects = self.sabath.store / "objects"
        library = python_prefix.site(self.base).parent
        ask = library / "sysconfig.py"  # the interpreter reads it between the fetch and the unpacking
        ask.write_text(ask.read_text() + f"\nimport os\nfor top, _, names in os.walk({str(objects)!r}):\n"
                       f"    for name in names:\n        if name.endswith('.{len(true)}'):\n"
                       f"            os.chmod(os.path.join(top, name), 0o644)\n"
                       f"            with open(os.path.join(top, name), 'wb') as file:\n                file.write({other!r})\n")  # fmt: skip
        error = self.pack(self.lock(wheel), code=7).err
        self.assertIn("flute-1.2-py3-none-any.whl was changed in the store", error)
        self.assertFalse((self.sabath.store / "by-name/horn").exists())

    def test_what_starts_by_itself_is_accepted_by_name(self):
        reed = self.wheel("reed", "1.0", files={"usercustomize.py": b"x = 1\n", "reed-1.0.data/data/lib/libreed.so.1": b"x"})
        lock = self.lock(reed)
        self.assertIn("accept libreed.so.1", self.pack(lock, code=12).err)
        error = self.pack(lock, "--accept", "libreed.so.1", code=12).err
        self.assertIn("reed 1.0: usercustomize.py is code", error)
        accepted = ("--accept", "libreed.so.1", "--accept", "usercustomize.py")
        packed = self.pack(lock, *accepted)
        self.assertEqual(self.pack(lock, *accepted, name="again")["manifest"], packed["manifest"])
        self.pack(lock, name="third", code=12)  # known now, and refused all the same

    def test_code_that_only_begins_like_a_known_one(self):
        place = "p = os.path.join(sys._getframe(1).f_locals['sitedir'], *('reed', 'pipe'))"
        good = ("import sys, types, os;has_mfs = sys.version_info > (3, 5);" + place + ";importlib = has_mfs and __import__('importlib.util');"
                "has_mfs and __import__('importlib.machinery');m = has_mfs and sys.modules.setdefault('reed.pipe', importlib.util.module_from_spec("
                "importlib.machinery.PathFinder.find_spec('reed.pipe', [os.path.dirname(p)])));m = m or sys.modules.setdefault('reed.pipe', "
                "types.ModuleType('reed.pipe'));mp = (m or []) and m.__dict__.setdefault('__path__',[]);(p not in mp) and mp.append(p);"
                "m and setattr(sys.modules['reed'], 'pipe', m)")  # fmt: skip
        for number, line in enumerate((good + ";print(1)", good.replace("'reed'", "'drum'", 1), good.replace(";m and setattr", ";print(1) or setattr"), "import sys, types, os;" + place)):
            wheel = self.wheel("reed", f"1.{number}", files={"reed/pipe/x.py": b"", f"reed-1.{number}-nspkg.pth": line.encode() + b"\n"})
            self.assertIn("each start", self.pack(self.lock(wheel), code=12).err)
        hack = "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; enabled and __import__('_distutils_hack').add_shim(); "
        files = {"reed/pipe/x.py": b"", "reed-2-nspkg.pth": good.encode() + b"\n", "distutils-precedence.pth": hack.encode() + b"\n"}
        self.pack(self.lock(self.wheel("reed", "2", files=files)))
        files["distutils-precedence.pth"] = hack.encode() + b"print(1)\n"
        self.assertIn("distutils-precedence.pth", self.pack(self.lock(self.wheel("reed", "3", files=files)), code=12, name="other").err)

    def test_a_shared_store_takes_what_its_members_can_read(self):
        mine = python_prefix.install(python_prefix.venv(self.base, self.home / "mine"))
        shared = self.home / "shared"
        self.expect(self.sabath.run("init", "--shared", "--store", shared))
        pack = ("env", "pack", "x", mine, "--store", shared)
        self.home.chmod(0o755)
        secret = python_prefix.site(mine) / "flute/secret.txt"
        secret.write_text("mine alone")
        secret.chmod(0o600)
        self.assertIn("flute/secret.txt may not go into", self.expect(self.sabath.run(*pack), 4).err)
        secret.chmod(0o644)
        secret.parent.chmod(0o700)
        self.assertIn("may not go into", self.expect(self.sabath.run(*pack), 4).err)
        secret.parent.chmod(0o755)
        self.expect(self.sabath.run(*pack))

    def test_a_library_that_hides_what_it_loads(self):
        if not shutil.which("gcc"):
            self.skipTest("gcc is not here")
        outside = self.home / "outside/libreed.so"
        outside.parent.mkdir()
        (self.home / "a.c").write_text("int reed(void) { return 3; }\n")
        made = ["gcc", "-shared", "-fPIC", self.home / "a.c", "-o"]
        subprocess.run([*made, outside], check=True)

        def library(*flags):
            subprocess.run([*made, self.home / "x.so", *flags], check=True)
            return bytearray((self.home / "x.so").read_bytes())

        def headers(data):
            return [(at, list(struct.unpack_from("<IIQQQQQQ", data, at))) for at in range(*(lambda start, count: (start, start + 56 * count, 56))(struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]))]  # fmt: skip

        def with_dynamic(**lies):
            data = library("-Wl,--no-as-needed", outside, f"-Wl,-rpath,{outside.parent}")
            for at, header in headers(data):
                if header[0] == 2:
                    header[2] = lies.get("offset", header[2])
                    header[5] = lies.get("size", header[5])
                if header[0] == 2 or (header[0] == 0x6474E551 and lies.get("twice")):
                    header[0] = 2
                struct.pack_into("<IIQQQQQQ", data, at, *header)
            return data

        rows = (library(f"-Wl,-f,{outside}"), library(f"-Wl,-F,{outside}"), library(f"-Wl,--depaudit={outside}"),
                with_dynamic(), with_dynamic(offset=64), with_dynamic(size=16), with_dynamic(size=16 * 9000), with_dynamic(twice=True))  # fmt: skip
        for number, data in enumerate(rows):
            with self.subTest(number=number):
                reed = self.wheel("reed", f"1.{number}", files={"reed/x.so": bytes(data)})
                self.assertIn("reed/x.so", self.pack(self.lock(reed), code=12).err)


if __name__ == "__main__":
    main()
