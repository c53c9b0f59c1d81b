# python3-lupa: a VM for each of two threads of Python, which work at once.
# shellcheck shell=bash disable=SC2154,SC2034

mapfile -t packages < <(with_dependencies python3-lupa)

run_program() {
  cat > "$dir/threads.py" << END
import threading
import lupa

def run(name):
    lua = lupa.LuaRuntime()
    work = lua.eval("dofile")("$real/work.lua")("$dir/" + name, $work_seconds / 2)
    lua.globals().each = lambda n: n + 1
    work.start()
    # Python calls Lua, and that calls Python.
    turn = lua.eval("function(work) each(1); return work.step() end")
    while not turn(work):
        pass

threads = [threading.Thread(target=run, args=(f"lupa{n}",)) for n in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
END
  LD_LIBRARY_PATH=$libraries \
    PYTHONPATH=$build/stock/python3-lupa/usr/lib/python3/dist-packages \
    sysprof_start "${strict[@]}" -- /usr/bin/python3 "$dir/threads.py" || return
  await_work lupa1 lupa2
  sysprof_ended 0
  judge lupa1 lupa2
}
