"""Load the packages of a collection and say which library, Python and versions that brought.

Started as ``python -c SCRIPT QUESTION``. The digest is of the file that this process has mapped, not of
one that lies where it should.
"""

import hashlib
import importlib
import json
import platform
import sys
from importlib import metadata
from pathlib import Path

question = json.loads(sys.argv[1])
sys.path[:] = [*question["Paths"], *[p for p in sys.path if p]]
for module in question["Modules"]:
    importlib.import_module(module)
maps = Path("/proc/self/maps").read_text()
mapped = {line.split(maxsplit=5)[5] for line in maps.splitlines() if line.endswith(".so")}
found = sorted(p for p in mapped if Path(p).name == question["Library"])
if len(found) != 1:
    sys.exit(f"expected one {question['Library']}, loaded {found}")
answer = {
    "Python": platform.python_version(),
    "SHA256": hashlib.sha256(Path(found[0]).read_bytes()).hexdigest(),
    "Have": {name: metadata.version(name) for name in question["Distributions"]},
}
print(json.dumps(answer))
