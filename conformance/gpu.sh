#!/usr/bin/env bash
# Tests and measures a collection on a machine with a GPU that has neither Go nor a compiler nor this repository's environment.
#
#   conformance/gpu.sh pack [-C PROJECT] OUT.tar.gz   where the project is built for cpu,cuda, or for cpu,rocm
#   ./gpu.sh run                                      in the unpacked folder, on the other machine
#
# The bundle holds an opcast that needs nothing but glibc, the project with its libraries and packages, and the tvm-ffi and ml_dtypes wheels for
# the other machine's Python (PYTHON_VERSION, default 3.12). That machine brings Python with torch, jax and cupy; what it
# lacks of them is reported as skipped. It runs the suite, then the fast checks of the bare callers under compute-sanitizer where
# that is installed, then the workloads of the definitions. report/ keeps the report, the versions and figures:
# opcast report support report --markdown README.md tells where the project was packed what ran here. The GPUs are AMD's if the
# machine has their driver and no GPU of NVIDIA's; DEVICE=rocm or DEVICE=cuda says so.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python_version=${PYTHON_VERSION:-3.12}

pack() {
  local project=.
  if [[ ${1:-} == -C ]]; then project=$2 && shift 2; fi
  local out=${1:?name of the bundle} root
  root=$(cd "$here/.." && pwd)
  project=$(cd "$project" && pwd)
  stage=$(mktemp -d)
  trap 'rm -rf "$stage"' EXIT # a variable of the script: the function has ended by then
  (cd "$root" && CGO_ENABLED=0 go build -o "$stage/opcast" ./cmd/opcast)
  mkdir -p "$stage/project" "$stage/wheels"
  # With the libraries, which lie in the packages; without what is built from them or about them.
  tar -C "$project" --exclude=./.git --exclude=./.venv --exclude=./build --exclude=./dist --exclude='.*_cache' \
    --exclude=__pycache__ -cf - . | tar -C "$stage/project" -xf -
  "$root/.venv/bin/python" -m pip download --quiet --no-deps --only-binary=:all: --python-version "$python_version" \
    --dest "$stage/wheels" "apache-tvm-ffi==$(version_of apache-tvm-ffi)" "ml_dtypes==$(version_of ml_dtypes)"
  cp "${BASH_SOURCE[0]}" "$stage/gpu.sh"
  mkdir -p "$(dirname "$out")"
  tar -C "$stage" -czf "$out" .
  du -h "$out"
}

# The version that the tests of this repository use: it has to fit the headers that the library was built with.
version_of() {
  "$here/../.venv/bin/python" -c 'import sys; from importlib.metadata import version; print(version(sys.argv[1]))' "$1"
}

# The kind of the machine's GPUs. AMD's driver shows itself as /dev/kfd, also for the graphics of a CPU beside a GPU of NVIDIA's.
kind_of_gpu() {
  if [[ -e /dev/kfd ]] && ! nvidia-smi --list-gpus >/dev/null 2>&1; then echo rocm; else echo cuda; fi
}

# The machine's GPUs as their vendor's tools tell of them.
describe_gpus() {
  case $1 in
    rocm)
      rocm-smi --showproductname --showdriverversion 2>/dev/null || amd-smi static --asic --driver 2>/dev/null || echo 'no rocm-smi and no amd-smi'
      rocminfo 2>/dev/null | grep -E '^ *Name: +gfx' | sort | uniq -c || echo 'no rocminfo'
      ;;
    *) nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv || echo 'no nvidia-smi' ;;
  esac
}

run() {
  local python=${PYTHON:-python3} device=${DEVICE:-$(kind_of_gpu)} code=0
  cd "$here"
  "$python" -m venv --system-site-packages venv
  for wheel in wheels/*.whl; do
    # One that the machine has already stays, unless it is tvm-ffi, whose version the library depends on.
    case $wheel in
      */apache_tvm_ffi-*) venv/bin/python -m pip install --quiet --no-deps --no-index --force-reinstall "$wheel" ;;
      *) venv/bin/python -c 'import ml_dtypes' 2>/dev/null || venv/bin/python -m pip install --quiet --no-deps --no-index "$wheel" ;;
    esac
  done
  mkdir -p report
  {
    date -u +%Y-%m-%d
    describe_gpus "$device"
    venv/bin/python --version
    venv/bin/python -m pip list --format=freeze | grep -iE '^(torch|jax|jaxlib|cupy|numpy|ml.dtypes|apache-tvm-ffi|triton)' || true
  } | tee report/machine.txt
  ./opcast -C project test --no-build --python venv --device "$device" "$@" | tee report/log.txt || code=$?
  cp -r project/build/report/. report/ 2>/dev/null || true
  if [[ $device == cuda ]]; then sanitized || code=$?; fi # the tools are NVIDIA's
  ./opcast -C project bench --no-build --python venv --device "$device" --json "$here/report/bench.json" | tee report/bench.txt || code=$?
  return "$code"
}

# The fast checks of a caller without a framework, under NVIDIA's tools: what they find is in the log, and in the exit code.
sanitized() {
  local tool code=0
  if ! command -v compute-sanitizer >/dev/null; then
    echo "no compute-sanitizer on this machine" | tee report/sanitizer.txt
    return 0
  fi
  for tool in memcheck synccheck racecheck; do
    compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 86 ./opcast -C project test --fast --no-build --python venv \
      --device cuda --adaptor backend --report build/sanitized 2>&1 | tee -a report/sanitizer.txt || code=$?
  done
  return "$code"
}

case ${1:-} in
  pack) shift && pack "$@" ;;
  run) shift && run "$@" ;;
  *) sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
