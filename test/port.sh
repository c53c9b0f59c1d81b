# shellcheck shell=bash disable=SC2034

# Sets `port` to one of this machine at which nothing listens.
free_port() {
  port=$((20000 + $$ % 10000))
  while (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do
    port=$((port + 1))
  done
}
