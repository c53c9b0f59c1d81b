# love: a game without a window; the VM of its main thread, and another thread's.
# shellcheck shell=bash disable=SC2154,SC2034

mapfile -t packages < <(with_dependencies love)

run_program() {
  mkdir "$dir/game"
  cat > "$dir/game/conf.lua" << 'END'
function love.conf(t)
  t.window, t.modules.window, t.modules.graphics = false, false, false
  t.modules.audio, t.modules.sound, t.modules.joystick = false, false, false
end
END
  cat > "$dir/game/main.lua" << END
local work = dofile("$real/work.lua")("$dir/love1", $work_seconds / 2)
local thread

function love.load()
  work.start()
  thread = love.thread.newThread([[
    local work = dofile("$real/work.lua")("$dir/love2", $work_seconds / 2)
    work.start()
    repeat until work.step()
  ]])
  thread:start()
end

function love.update()
  if work.step() and not thread:isRunning() then love.event.quit() end
end

function love.threaderror(_, message)
  error(message)
end
END
  LD_LIBRARY_PATH=$libraries HOME=$dir sysprof_start "${strict[@]}" -- \
    "$build/stock/love/usr/bin/love-11.4" "$dir/game" || return
  await_work love1 love2
  sysprof_ended 0
  judge love1 love2
}
