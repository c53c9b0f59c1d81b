# pdns-recursor: a script that answers queries, each in a fiber of
# boost::context.
# shellcheck shell=bash disable=SC2154,SC2034

mapfile -t packages < <(with_dependencies pdns-recursor)

run_program() {
  cat > "$dir/script.lua" << END
local work
function preresolve(dq)
  if not work then
    work = dofile("$real/work.lua")("$dir/pdns", $work_seconds)
    work.start()
  end
  work.step()
  dq:addAnswer(pdns.A, "127.0.0.9")
  return true
end
END
  cat > "$dir/ask.py" << 'END'
# Asks for one name after the other, until it is ended.
import itertools
import socket
import struct
import sys

s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("127.0.0.1", int(sys.argv[1])))
s.settimeout(1)
for n in itertools.count():
    name = b"n%d" % n
    try:
        s.send(struct.pack(">6H", n % 65536, 0x100, 1, 0, 0, 0) + bytes([len(name)]) + name +
               b"\7example\0" + struct.pack(">2H", 1, 1))
        s.recv(512)
    except OSError:
        pass  # Not yet, or no longer, there.
END
  mkdir "$dir/pdns"
  LD_LIBRARY_PATH=$libraries "$build/stock/pdns-recursor/usr/sbin/pdns_recursor" \
    --config-dir="$dir/pdns" --socket-dir="$dir/pdns" --daemon=no --write-pid=no \
    --disable-syslog=yes --hint-file=no --security-poll-suffix= --threads=1 \
    --local-address=127.0.0.1 --local-port="$port" \
    --lua-dns-script="$dir/script.lua" > "$dir/target.err" 2>&1 &
  target=$!
  started+=("$target")
  await_port || return
  sysprof_start "${strict[@]}" -p "$target" || return
  /usr/bin/python3 "$dir/ask.py" "$port" &
  started+=("$!")
  await_work pdns
  kill -TERM "$target"
  finish "$target"
  sysprof_ended 0
  judge pdns
}
