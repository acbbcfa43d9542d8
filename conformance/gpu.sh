#!/usr/bin/env bash
# Tests and measures a collection on a machine with a GPU that has neither Go nor a compiler nor this repository's environment.
#
#   conformance/gpu.sh pack [-C PROJECT] OUT.tar.gz   where the project is built for cpu,cuda, or for cpu,rocm
#   ./gpu.sh run                                      in the unpacked folder, on the other machine: the three parts below
#   ./gpu.sh test|sanitize|measure [ARGUMENT...]      one part, with more arguments for opcast; TOOLS="memcheck" for fewer sanitizers
#   ./gpu.sh measure --rehearse                       the same steps with small arrays, on a machine without a GPU
#
# The bundle holds an opcast that needs nothing but glibc, the project with its libraries and packages, and the tvm-ffi and ml_dtypes wheels for
# the other machine's Python (PYTHON_VERSION, default 3.12). That machine brings Python with torch, jax and cupy; what it
# lacks of them is reported as skipped. It runs the suite, then the fast checks of the bare callers under compute-sanitizer where
# that is installed, then measures the workloads of the definitions through PyTorch, in minutes: what was slowest in the results of
# earlier runs (bench/gpu/*.json in the project) comes first, each row is written to report/measure.json at once, and a run that was cut
# short goes on where it ended. report/ keeps the report, the versions and figures:
# opcast report support report --markdown PAGE writes what ran here into a page, where the project was packed. The GPUs are AMD's if the
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

# An environment that sees the packages of the machine's Python, which may be one of an environment itself.
prepare() {
  local python=${PYTHON:-python3} made
  mkdir -p report
  made=$(command -v "$python" && sha256sum wheels/*)
  if [[ $(cat venv/made 2>/dev/null) == "$made" ]]; then return 0; fi
  rm -rf venv
  "$python" -m venv --system-site-packages venv
  "$python" -c 'import sysconfig; print(*{sysconfig.get_path(p) for p in ("purelib", "platlib")}, sep="\n")' \
    >"$(venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/outer.pth"
  for wheel in wheels/*.whl; do
    # One that the machine has already stays, unless it is tvm-ffi, whose version the library depends on.
    case $wheel in
      */apache_tvm_ffi-*) venv/bin/python -m pip install --quiet --no-deps --no-index --ignore-installed "$wheel" ;;
      *) venv/bin/python -c 'import ml_dtypes' 2>/dev/null || venv/bin/python -m pip install --quiet --no-deps --no-index "$wheel" ;;
    esac
  done
  {
    date -u +%Y-%m-%d
    describe_gpus "$device"
    venv/bin/python --version
    venv/bin/python -m pip list --format=freeze | grep -iE '^(torch|jax|jaxlib|cupy|numpy|ml.dtypes|apache-tvm-ffi|triton)' || true
  } | tee report/machine.txt
  echo "$made" >venv/made
}

# The suite, with its report.
tested() {
  local code=0
  ./opcast -C project test --no-build --python venv --device "$device" "$@" | tee -i report/log.txt || code=$?
  cp -r project/build/report/. report/ 2>/dev/null || true
  return "$code"
}

# The fast checks of a caller without a framework, under NVIDIA's tools: what they find is in the logs, and in the exit code.
# They look at the workers, which are programs of Python: opcast itself is linked statically, and hides its children from them.
sanitized() {
  local tool code=0
  if [[ $device != cuda ]]; then return 0; fi # the tools are NVIDIA's
  if ! command -v compute-sanitizer >/dev/null; then
    echo "no compute-sanitizer on this machine" | tee report/sanitizer.txt
    return 0
  fi
  for tool in ${TOOLS:-memcheck synccheck racecheck}; do
    rm -rf "report/$tool" && mkdir -p "report/$tool" # without the logs of an earlier run
    {
      echo '#!/usr/bin/env bash'
      # Errors that functions of the driver return are handled, such as what they say about an address of the host.
      printf 'watched=(compute-sanitizer --tool %q --report-api-errors no --log-file %q)\n' "$tool" "$here/report/$tool/%p.txt"
      printf 'python=%q\n' "$here/venv/bin/python"
      echo 'if [[ ${2:-} == */main.py ]]; then exec "${watched[@]}" "$python" "$@"; fi'
      echo 'exec "$python" "$@"'
    } >watched-python
    chmod +x watched-python
    ./opcast -C project test --fast --no-build --python ./watched-python --timeout 10m --device cuda --adaptor backend \
      --report build/sanitized "$@" 2>&1 | tee -i "report/$tool/log.txt" || code=$?
    if grep -H '^=========' "report/$tool/"[0-9]*.txt | grep -vE '(COMPUTE-SANITIZER|before first instrumented API call|SUMMARY: 0 [a-z]+( displayed \(0 errors, 0 warnings\))?)$'; then
      echo "$tool: see report/$tool" && code=86
    elif ! grep -qs 'SUMMARY: ' "report/$tool/"[0-9]*.txt; then
      echo "$tool: it watched no process" && code=86
    else
      echo "$tool: nothing found"
    fi
  done
  return "$code"
}

# The workloads of the definitions.
measured() {
  local on=(--device "$device") ops
  if [[ " $* " == *' --rehearse '* ]]; then on=(); fi
  mapfile -t ops < <(slowest_first)
  ./opcast -C project bench --no-build --python venv "${on[@]}" --adaptor torch --resume --report build/measured \
    --json "$here/report/measure.json" "$@" "${ops[@]}" | tee -i report/measure.txt
}

# The ops with workloads: first those that no result has, then by how little of the hardware's limits they reached.
slowest_first() {
  venv/bin/python - project <<'PYTHON'
import json, pathlib, sys, tomllib

project = pathlib.Path(sys.argv[1])
share = {}
for file in sorted(project.glob("bench/gpu/*.json")):
    for row in json.loads(file.read_text()).get("rows", []):
        time, found = row["time_ns"]["median"], []
        if row["bytes"]:
            found.append(row["bytes"] / time / row["copy_gbs"]["median"])
        if row["flops"] and row.get("peak_gflops"):
            found.append(row["flops"] / time / row["peak_gflops"]["median"])
        share[row["op"]] = min(share.get(row["op"], 1e9), max(found, default=1e9))
ops = [d.stem for d in sorted(project.glob("opdefs/**/*.toml")) if "workloads" in tomllib.loads(d.read_text())]
print(*sorted(ops, key=lambda op: share.get(op, 0)), sep="\n")
PYTHON
}

# All parts: each runs, whatever the others find.
run() {
  local code=0
  tested "$@" || code=$?
  sanitized || code=$?
  measured || code=$?
  return "$code"
}

case ${1:-} in
  pack) shift && pack "$@" ;;
  run | test | sanitize | measure)
    cd "$here"
    device=${DEVICE:-$(kind_of_gpu)}
    prepare
    part=$1 && shift
    case $part in
      run) run "$@" ;;
      test) tested "$@" ;;
      sanitize) sanitized "$@" ;;
      measure) measured "$@" ;;
    esac
    ;;
  *) sed -n '2,17s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
