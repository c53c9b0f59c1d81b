# shellcheck shell=bash
# What `run` and `full` share: steps, and variants of the build. The working
# directory is the top of the tree.

failed=() steps=0

# All builds take LuaJIT's source from one place, and share what they compile
# alike: variants differ in LuaJIT, and hardly in the tools and tests.
export LJPROF_CACHE_DIR=$PWD/build-ci/source
export CCACHE_DIR=$PWD/build-ci/ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
export CMAKE_C_COMPILER_LAUNCHER=ccache
# Only if the kernel refuses BPF may tests of lj-sysprof be skipped.
export LJPROF_E2E=required

mkdir -p build-ci

# Runs a step of the name $1, the command behind it, and goes on if it fails.
step() {
  local name=$1 start=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  steps=$((steps + 1))
  "$@" || failed+=("$name")
  printf -- '-- %s: %s s\n' "$name" "$((SECONDS - start))"
}

# Builds the folders $parts of the build $1.
build_parts() {
  local part
  for part in $parts; do
    cmake --build "$1/$part" -j "$(nproc)" || return 1
  done
}

# Builds a preset $2, changed by options of cmake, as build-ci/$1 and runs the
# tests there whose names match $3, but none of $skip. Of the tree, only the
# folders $parts are built. Of the build, only what goes wrong is shown.
skip='^$' parts=.
variant() {
  local dir=build-ci/$1 preset=$2 tests=$3
  shift 3
  if ! cmake --preset "$preset" -B "$dir" "$@" > "$dir.log" 2>&1 ||
    ! build_parts "$dir" >> "$dir.log" 2>&1; then
    tail -n 60 "$dir.log"
    return 1
  fi
  ctest --test-dir "$dir" --output-on-failure --no-tests=error \
    -R "$tests" -E "$skip" -j "$(nproc)" | grep -Ev '^ +Start | Passed '
}

# Says what has failed, and exits accordingly.
finish() {
  printf '\n== done (%s s)\n' "$SECONDS"
  [ ${#failed[@]} -eq 0 ] || printf 'failed: %s\n' "${failed[*]}"
  printf '%s passed, %s failed\n' "$((steps - ${#failed[@]}))" "${#failed[@]}"
  [ ${#failed[@]} -eq 0 ]
}
