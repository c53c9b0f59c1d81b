# shellcheck shell=bash

# Ends a test with a message.
fail() {
  echo "FAILED: $*"
  exit 1
}
