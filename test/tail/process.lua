-- Processes, for tests of the tail: the driver's and the recorded program's.

local ffi = require("ffi")
local bit = require("bit")

ffi.cdef([[
int pipe(int *fd);
int fork(void);
int dup2(int from, int to);
int close(int fd);
long read(int fd, void *buf, size_t n);
long write(int fd, const void *buf, size_t n);
int kill(int pid, int signo);
int getpid(void);
int waitpid(int pid, int *status, int options);
int execv(const char *path, char *const *argv);
long syscall(long number, ...);
void _exit(int status);
struct rlimit { unsigned long cur, max; };
int setrlimit(int what, const struct rlimit *to);
int getrlimit(int what, struct rlimit *to);
]])

local C = ffi.C
local P = { C = C }

local SIGCHLD, SIGKILL = 17, 9
local CLONE = ({ x64 = 56, arm64 = 220, x86 = 120 })[jit.arch]

-- Ends this process as kill -9 does.
function P.die()
  C.kill(C.getpid(), SIGKILL)
end

-- Makes a child that runs f and ends, how = "fork" or "clone", and waits for
-- it. Returns its exit status, or less than 0: the signal that ended it.
function P.child(how, f)
  local pid
  if how == "clone" then
    pid = tonumber(C.syscall(CLONE, ffi.cast("long", SIGCHLD), nil, nil, nil, nil))
  else
    pid = C.fork()
  end
  if pid == 0 then
    C._exit(pcall(f) and 0 or 1)
  end
  assert(pid > 0, how)
  local status = ffi.new("int[1]")
  assert(C.waitpid(pid, status, 0) == pid)
  local signo = bit.band(status[0], 127)
  return signo > 0 and -signo or bit.rshift(status[0], 8)
end

-- Starts a program whose standard output is a pipe. Returns its pid, and the
-- pipe's end to read from.
function P.spawn(argv)
  local fd = ffi.new("int[2]")
  local args = ffi.new("char *[?]", #argv + 1)
  local keep = {}
  for i, s in ipairs(argv) do
    keep[i] = ffi.new("char[?]", #s + 1, s)
    args[i - 1] = keep[i]
  end
  args[#argv] = nil
  assert(C.pipe(fd) == 0)
  local pid = C.fork()
  if pid == 0 then
    C.dup2(fd[1], 1)
    C.close(fd[0])
    C.close(fd[1])
    C.execv(argv[1], args)
    C._exit(127)
  end
  C.close(fd[1])
  return pid, fd[0]
end

-- Reads up to n bytes at once. Returns how many, or 0 at the end.
function P.read(fd, buf, n)
  return tonumber(C.read(fd, buf, n))
end

-- Kills a child and waits for its end. Returns the signal that ended it.
function P.kill(pid)
  local status = ffi.new("int[1]")
  C.kill(pid, SIGKILL)
  assert(C.waitpid(pid, status, 0) == pid)
  return bit.band(status[0], 127)
end

-- Waits for a child's end. Returns its exit status, or 128 + the signal, as a
-- shell does.
function P.wait(pid)
  local status = ffi.new("int[1]")
  assert(C.waitpid(pid, status, 0) == pid)
  local signo = bit.band(status[0], 127)
  return signo > 0 and 128 + signo or bit.rshift(status[0], 8)
end

-- The output of a command, standard error behind it.
function P.output(command)
  local f = assert(io.popen(command .. " 2>&1"))
  local s = f:read("*a")
  f:close()
  return s
end

function P.get(path)
  local f = io.open(path, "rb")
  local s = f and f:read("*a")
  return s, f and f:close()
end

function P.put(path, s)
  local f = assert(io.open(path, "wb"))
  f:write(s)
  f:close()
end

-- An argument as the shell takes it.
function P.quote(s)
  return "'" .. s:gsub("'", "'\\''") .. "'"
end

return P
