#!/usr/bin/env python3
"""What the recorder reads of a VM is what layout.h names.

    fields.py COMPILE_COMMANDS LAYOUTS LAYOUT.C

Takes the syntax tree of a core from clang, and from it each field of the VM's
structures, and each of its enumerators, that a function uses which the module
can get to. All must be among those of LAYOUT.C, which the check compares with
the VM, or be explained below. The status is 77 without clang.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

# What is not there by its own name, and why. A pattern each.
EXPLAINED = re.compile("|".join((
    # What all objects begin with: GChead, by other names.
    r"\w+\.(nextgc|gct)",
    # Parts of unions, which all begin at 0.
    r"(GCRef|MRef|GCobj|GCfunc|TValue|IRIns)\.\w+", r"IRType1\.irt",
    # Kinds of frames: check_state.c walks frames as if they were these.
    r"FRAME_\w+", r"LJ_CONT_FFI_CALLBACK",
    # They are numbered as objects' tags are, or are between those that
    # check_trace.c has numbers for, as it has for these references.
    r"IRT_\w+", r"REF_(BIAS|TRUE)",
    # Only compared with a block's address, for the type of a new trace.
    r"jit_State\.curfinal",
    # The end of the instructions, from which ndispatch counts.
    r"BC__MAX",
    # A site is INTERNAL with it or without it: else the compiler's state.
    r"LJ_VMST_EXIT",
    # Bytes of debug information that are no names.
    r"VARNAME_\w+")))
# What heap dumps alone read. The check does not compare these with the VM: they
# are right if the version is that of the layout, which all others prove. The sums
# of a dump show wrong sizes (`making` is not 0). Nothing is to be added here.
DUMPS = frozenset("""
    CCallback.cbid CCallback.sizeid CTState.cb CTState.finalizer
    CTState.miscmap CTState.sizetab CTState.tab CTState.top CT_ATTRIB
    CT_BITFIELD CT_FIELD CT_HASSIZE CType.info CType.name CType.size
    GCROOT_BASEMT GCROOT_IO_INPUT GCROOT_IO_OUTPUT GCROOT_MMNAME
    GCState.lightudnum GCState.lightudseg GCState.mmudata
    GCcdata.ctypeid GCcdata.marked GCcdataVar.extra GCcdataVar.len
    GCcdataVar.offset GCfuncC.env GCfuncC.nupvalues GCfuncC.upvalue
    GCfuncL.env GCfuncL.nupvalues GCstr.marked GCtab.asize GCtab.colo
    GCtab.metatable GCtab.nomm GCtrace.link GCtrace.nextside GCudata.env
    GCudata.len GCudata.metatable GCudata.udtype GCupval.closed MM_mode SBuf.b
    SBuf.e SBuf.w SBufExt.L SBufExt.b SBufExt.dict_mt SBufExt.dict_str
    SBufExt.e UDTYPE_BUFFER global_State.ctype_state global_State.gcroot
    global_State.strempty global_State.tmpbuf jit_State.cur jit_State.irbotlim
    jit_State.irbuf jit_State.irtoplim jit_State.sizesnap
    jit_State.sizesnapmap jit_State.snapbuf jit_State.snapmapbuf lua_State.env
    lua_State.stacksize lua_State.status
""".split())
PUBLIC = ("lua.h", "luajit.h", "lauxlib.h") # No layout, but the API.

NODE = re.compile(r"^([| `-]*)(\w+)(?: (0x[0-9a-f]+))?(.*)$")
PLACE = re.compile(r"[<,] ?((?:/|\w)[^:<>,]*\.[ch]):\d+:\d+")


def dump(commands):
    """The lines of the syntax tree of the core of 64 bit references."""
    with open(commands, encoding="utf-8") as f:
        entry = next(e for e in json.load(f)
                     if e["file"].endswith("module/core.c") and
                     "_gc64.dir" in e["command"])
    words = shlex.split(entry["command"])[1:]
    at = words.index("-o")
    del words[at:at + 2]
    words = [w for w in words if w != "-c" and not w.startswith("-W")]
    done = subprocess.run(
        ["clang", "-w", "-fsyntax-only", "-Xclang", "-ast-dump",
         "-fno-color-diagnostics"] + words,
        cwd=entry["directory"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


class Tree:
    """Of the tree: records with their fields, and what functions use."""

    def __init__(self, lines):
        self.fields = {}   # Address -> (record, field).
        self.types = {}    # (record, field) -> type.
        self.enums = {}    # Enumerator -> file.
        self.files = {}    # Record -> file.
        self.uses = {}     # Function -> fields, enumerators, functions.
        self.place = ""
        stack = []
        for line in lines:
            m = NODE.match(line)
            if not m:
                continue
            depth, (kind, addr, rest) = len(m[1]), m.groups()[1:]
            for p in PLACE.finditer(rest):
                self.place = p[1]
            while stack and stack[-1][0] >= depth:
                stack.pop()
            self.node(kind, addr, rest, [s[1] for s in stack])
            stack.append((depth, self.scope(kind, rest)))

    def scope(self, kind, rest):
        """What the children of a node belong to: (kind, name) or None."""
        if kind == "RecordDecl":
            m = re.search(r" (?:struct|union)(?: (\w+))?(?: definition)?$", rest)
            return ("record", m[1] if m else None)
        if kind in ("FunctionDecl", "VarDecl"):
            name = re.search(r" (\w+) '", rest)
            return ("function", name[1] if name else None)
        return None

    def node(self, kind, addr, rest, outer):
        owner = next((s for s in reversed(outer) if s and s[1]), None)
        if kind == "RecordDecl":
            name = self.scope(kind, rest)[1]
            if name and rest.endswith("definition"):
                self.files[name] = self.place
        elif kind == "FieldDecl" and " implicit " not in rest:
            m = re.search(r" (\w+) '([^']*)'(?::'([^']*)')?", rest)
            if m and owner and owner[0] == "record":
                self.fields[addr] = (owner[1], m[1])
                kind = (m[3] or m[2]).split()
                self.types[owner[1], m[1]] = kind[-1] if kind else ""
        elif kind == "EnumConstantDecl":
            m = re.search(r" (\w+) 'int'", rest)
            if m:
                self.enums[m[1]] = self.place
        elif owner and owner[0] == "function":
            uses = self.uses.setdefault(owner[1], set())
            if kind == "MemberExpr":
                uses.add(("field", rest.rsplit(" ", 1)[1]))
            m = re.search(r" (Function|EnumConstant|Var) 0x\w+ '(\w+)'", rest)
            if kind == "DeclRefExpr" and m:
                uses.add((m[1], m[2]))

    def reach(self, roots):
        """All functions that can be got to."""
        seen, todo = set(), list(roots)
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += [u[1] for u in self.uses.get(name, ())
                         if u[0] in ("Function", "Var")]
        return seen

    def path(self, record, dotted):
        """The fields on the way to one in a structure."""
        for field in dotted.split("."):
            yield f"{record}.{field}"
            record = self.types.get((record, field), "")


def main():
    commands, layouts, layout = sys.argv[1:]
    if not shutil.which("clang"):
        print("skipped: no clang")
        return 77
    tree = Tree(dump(commands))
    with open(layout, encoding="utf-8") as f:
        text = f.read()
    named = set()
    for record, dotted in re.findall(r"AT\(\w+,\s*(\w+),\s*([\w.]+)\)", text):
        named.update(tree.path(record, dotted))
    named.update(re.findall(r"IS\(\w+,\s*~?(\w+)\)", text))

    layouts = os.path.realpath(layouts)
    found = {}
    for function in tree.reach(
            n for n in tree.uses if n.startswith("mp_core_") or
            n == "memprof_atexit"):
        for kind, what in tree.uses.get(function, ()):
            if kind == "field" and what in tree.fields:
                record, field = tree.fields[what]
                file, name = tree.files.get(record, ""), f"{record}.{field}"
            elif kind == "EnumConstant":
                file, name = tree.enums.get(what, ""), what
            else:
                continue
            if (os.path.realpath(file).startswith(layouts) and
                    os.path.basename(file) not in PUBLIC):
                found.setdefault(name, set()).add(function)
    missing = sorted(name for name in set(found) - named
                     if not EXPLAINED.fullmatch(name) and name not in DUMPS)
    stale = sorted(DUMPS - set(found))
    if stale:
        print("no dump reads: " + ", ".join(stale))
    for name in missing:
        print(f"not in the layout: {name}: {', '.join(sorted(found[name]))}")
    print(f"{len(found)} fields and enumerators, {len(missing)} not named")
    return 1 if missing or stale or len(found) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
