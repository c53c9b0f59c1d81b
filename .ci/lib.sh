# shellcheck shell=bash
# What `run` and `full` share: steps, and variants of the build. The working
# directory is the top of the tree.

failed=()

# All builds take LuaJIT's source from one place, and share what they compile
# alike: variants differ in LuaJIT, and hardly in the tools and tests. It is kept
# outside of the tree, for the next clone of it.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ljprof
export LJPROF_CACHE_DIR=$cache/source
export CCACHE_DIR=$cache/ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
mkdir -p "$LJPROF_CACHE_DIR" "$CCACHE_DIR" build-ci
export CMAKE_C_COMPILER_LAUNCHER=ccache
# Only if the kernel refuses BPF may tests of lj-sysprof be skipped.
export LJPROF_E2E=required

# What steps print and how their tests end, for `summary`.
results=$PWD/build-ci/results-${0##*/}
rm -rf "$results"
mkdir -p "$results"

# Runs a step of the name $1, the command behind it, and goes on if it fails.
step() {
  local name=$1 start=$SECONDS status
  shift
  printf '\n== %s\n' "$name"
  "$@" 2>&1 | tee "$results/$name.log" && status=0 || status=$?
  [ "$status" -eq 0 ] || failed+=("$name")
  printf '%s %s\n' "$name" "$status" >> "$results/steps"
  printf -- '-- %s: %s s\n' "$name" "$((SECONDS - start))"
}

# Builds the folders $parts of the build $1.
build_parts() {
  local part
  for part in $parts; do
    cmake --build "$1/$part" -j "$(nproc)" || return 1
  done
}

# Of what ctest prints, only what goes wrong.
only_wrong() {
  grep -Ev '^ +Start | Passed '
}

# Builds a preset $2, changed by options of cmake, as build-ci/$1 and runs the
# tests there whose names match $3, but none of $skip or $left_out. Of the tree,
# only the folders $parts are built. Of the build, only what goes wrong is shown.
skip='^$' left_out='^$' parts=.
variant() {
  local dir=build-ci/$1 preset=$2 tests=$3 log=$results/$1.build
  local xml=$results/$1.xml
  shift 3
  if ! cmake --preset "$preset" -B "$dir" "$@" > "$log" 2>&1 ||
    ! build_parts "$dir" >> "$log" 2>&1; then
    tail -n 60 "$log"
    return 1
  fi
  ctest --test-dir "$dir" --output-on-failure --no-tests=error \
    --output-junit "$xml" --test-output-size-passed 100000 \
    -R "$tests" -E "$skip|$left_out" -j $((2 * $(nproc))) | only_wrong
}

# Says what has failed, and how the tests ended, as the last thing: see
# `summary`. Its status is in `summarised`. Exits if something failed.
finish() {
  summarised=0
  printf '\n== done (%s s)\n' "$SECONDS"
  [ ${#failed[@]} -eq 0 ] || printf 'failed steps: %s\n' "${failed[*]}"
  .ci/summary "$results" || summarised=$?
  [ ${#failed[@]} -eq 0 ] && [ "$summarised" -ne 1 ] || exit 1
}
