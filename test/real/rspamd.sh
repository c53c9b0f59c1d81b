# rspamd: a rule in a worker that scans messages. LPeg is built in, and its
# memory comes from the VM's allocator behind the VM's back.
# shellcheck shell=bash disable=SC2154,SC2034

mapfile -t packages < <(with_dependencies rspamd)

# The rule. LPeg's patterns are as old as the recording, or made meanwhile, and
# some of both are freed before it ends.
rspamd_rule() {
  cat << END
local lpeg = require("lpeg")
local work
local held, made = {}, 0

local function pattern()
  local p = lpeg.R("az") ^ 1 * lpeg.P("=") * lpeg.C(lpeg.R("09") ^ 1)
  assert(p:match("abc=42") == "42")
  made = made + 1
  held[made % 200] = p
end

local function work_on_message()
  if not work then
    for _ = 1, 200 do pattern() end
    work = dofile("$real/work.lua")("$dir/rspamd", $work_seconds)
    work.start()
  end
  pattern()
  work.step()
end

rspamd_config.LJPROF = {
  callback = function(task)
    work_on_message()
    return task:get_subject() == "hello"
  end,
  score = 1.0,
}
END
}

# A server with one worker, and nothing that needs a network.
rspamd_conf() {
  cat << END
options {
  pidfile = "$data/pid"; filters = ""; tempdir = "$data"; hs_cache_dir = "$data";
  dns { nameserver = ["127.0.0.1"]; }
  url_tld = "$data/tld"; # Compiling all top level domains takes minutes.
}
logging { type = "file"; filename = "$data/log"; level = "info"; }
lua = "$data/rule.lua";
worker "normal" { bind_socket = "127.0.0.1:$port"; count = 1; }
END
}

run_program() {
  local stock=$build/stock/rspamd data=$dir/data process alone
  mkdir "$data"
  echo example > "$data/tld"
  rspamd_rule > "$data/rule.lua"
  rspamd_conf > "$data/rspamd.conf"
  printf '%s\n' 'From: a@b.example' 'To: c@d.example' 'Subject: hello' '' \
    'This is a test.' > "$data/message"
  alone=(env LD_LIBRARY_PATH="$libraries:$stock/usr/lib/rspamd")
  "${alone[@]}" SHAREDIR="$stock/usr/share/rspamd" \
    LUALIBDIR="$stock/usr/share/rspamd/lualib" PLUGINSDIR="$data" RULESDIR="$data" \
    CONFDIR="$data" LOCAL_CONFDIR="$data" RUNDIR="$data" DBDIR="$data" LOGDIR="$data" \
    "$stock/usr/bin/rspamd" -f -i -u "$(id -un)" -g "$(id -gn)" \
    -c "$data/rspamd.conf" > "$dir/target.err" 2>&1 &
  process=$!
  started+=("$process")
  await_port || return
  target=$(pgrep -P "$process" -f 'normal process') || {
    fail "no worker: $(tail -n 5 "$data/log")"
    return
  }
  sysprof_start "${strict[@]}" -p "$target" || return
  yes "$data/message" | head -n 20000 | xargs "${alone[@]}" "$stock/usr/bin/rspamc" \
    -h "127.0.0.1:$port" -n 4 symbols > "$dir/rspamc" 2>&1 &
  started+=("$!")
  await_work rspamd
  kill -TERM "$process"
  finish "$process"
  [ "$status" -eq 0 ] || fail "rspamd ended with status $status"
  sysprof_ended 0
  grep -q 'Symbol: LJPROF' "$dir/rspamc" || fail "no message was found by the rule"
  judge rspamd
  [ "$outside" -gt 0 ] || fail "LPeg's memory is not in the recording"
}
