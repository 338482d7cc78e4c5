#include "packing/compile_modules.h"

namespace sabath {
namespace {

// marshal marks a text for later use if anything else in the process holds it, too: so all of them are held.
constexpr std::string_view program = R"py(
import sys
sys.path[:1] = []
import importlib.util, marshal, os

def hold(value, held):
    if isinstance(value, str):
        held.append(value)
    elif isinstance(value, (tuple, frozenset)):
        for each in value:
            hold(each, held)
    elif hasattr(value, 'co_consts'):
        held.append((value.co_name, value.co_filename, getattr(value, 'co_qualname', None)))
        for each in (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars, value.co_consts):
            hold(each, held)

top, below = sys.argv[1:]
start = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, 'little')
for directory, folders, files in os.walk(os.path.join(top, below)):
    folders.sort()
    for name in sorted(files):
        path = os.path.join(directory, name)
        if not name.endswith('.py') or os.path.islink(path):
            continue
        with open(path, 'rb') as file:
            source = file.read()
        try:
            code = compile(source, os.path.relpath(path, top), 'exec', dont_inherit=True, optimize=0)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            continue
        held = []
        hold(code, held)
        target = os.path.join(directory, '__pycache__', '%s.%s.pyc' % (name[:-3], sys.implementation.cache_tag))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, 'xb') as file:
            file.write(start + importlib.util.source_hash(source) + marshal.dumps(code))
)py";

}  // namespace

std::string_view compile_program() { return program; }

}  // namespace sabath
