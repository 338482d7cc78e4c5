#!/usr/bin/python3
"""What strangers wrote is packed by its proven bytes, starts no code, and shows no file of others."""

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


if __name__ == "__main__":
    main()
