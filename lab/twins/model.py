# SPDX-License-Identifier: MIT OR Apache-2.0
"""The project's model without QEMU: lab/model/tests/stream.c, built and fed."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (
    "addresses cache check frames hierarchy hierarchy_init options pages reader recency region"
)


def build(folder):
    """The program, in this folder."""
    program = Path(folder) / "stream"
    model = ROOT / "lab/model"
    files = [model / "tests/stream.c", *(model / f"{name}.c" for name in SOURCES.split())]
    flags = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-o", str(program)]
    subprocess.run(["cc", *flags, *map(str, files), "-lm"], check=True)
    return program


def region(lines, cpus=1):
    """These lines as region 1; CPUs without an instruction have no record."""
    yield "b 1\n"
    yield from lines
    yield from (f"i {cpu} 1\n" for cpu in range(cpus))
    yield "e 1\n"


def run(program, levels, lines, cpus=1, more=()):
    """What each CPU did in region 1, from lines as stream.c describes them."""
    out = program.with_suffix(".out")
    options = [f"level{n}={level}" for n, level in enumerate(levels)]
    command = [str(program), str(cpus), f"out={out}", "memory=100", *options, *more]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as stream:
        stream.stdin.writelines(lines)
        stream.stdin.close()
    if stream.returncode:
        raise SystemExit("the model failed")
    records = [json.loads(line) for line in out.read_text().splitlines()]
    return {record["cpu"]: record for record in records if record.get("region") == 1}
