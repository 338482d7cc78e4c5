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

# Texts of one letter are shared by the whole process: whether they are interned is to be the same in each.
letters = [sys.intern(chr(i)) for i in range(256)] + [sys.intern('')]

# Two functions with one set share it, unless a text in it is in use elsewhere in the process: so no two share one.
def with_own_sets(code):
    def own(value):
        if hasattr(value, 'co_consts'):
            return with_own_sets(value)
        return frozenset([*value]) if isinstance(value, frozenset) else value
    consts = tuple(own(each) for each in code.co_consts)
    if all(a is b for a, b in zip(consts, code.co_consts)):
        return code
    return code.replace(co_consts=consts)

def compile_one(top, name):
    path = os.path.join(top, name)
    with open(path, 'rb') as file:
        source = file.read()
    try:
        code = compile(source, name, 'exec', dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return
    code = with_own_sets(code)
    held = []
    hold(code, held)
    directory, base = os.path.split(path)
    target = os.path.join(directory, '__pycache__', '%s.%s.pyc' % (base[:-3], sys.implementation.cache_tag))
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, 'xb') as file:
        file.write(start + importlib.util.source_hash(source) + marshal.dumps(code))

top, list_name = sys.argv[1:]
start = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, 'little')
with open(list_name, 'rb') as file:
    names = [os.fsdecode(name) for name in file.read().split(b'\0') if name]
names.sort(key=lambda name: (-os.path.getsize(os.path.join(top, name)), name))
cores = len(os.sched_getaffinity(0))
shares = cores if len(names) >= 20 * cores else 1
another = os.fork
children = []
for share in range(shares):
    child = another() if share + 1 < shares else 0
    if child:
        children.append(child)
        continue
    failed = 1
    try:
        for name in names[share::shares]:
            compile_one(top, name)
        failed = 0
    finally:
        if share + 1 < shares:
            os._exit(failed)
for child in children:
    failed = os.waitpid(child, 0)[1] or failed
sys.exit(1 if failed else 0)
)py";

}  // namespace

std::string_view compile_program() { return program; }

}  // namespace sabath
