"""ranx as an oracle, in a process of its own: reads cases as JSON, writes what ranx says of each.

A case is {"qrels", "run", "metrics", "make_comparable"}; its answer is metric -> question -> value, or
{"refused": message}. Run uncompiled: compiling ranx takes a minute, and plain Python gives the same values.
"""

import json
import os
import subprocess
import sys
from pathlib import Path


def ask_ranx(cases):
    """Return ranx's answers to all cases, by running this file."""
    run = subprocess.run(
        [sys.executable, str(Path(__file__))],
        input=json.dumps(cases),
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def _answer(case):
    import ranx

    run = ranx.Run(case["run"])
    comparable = case.get("make_comparable", True)
    try:
        ranx.evaluate(ranx.Qrels(case["qrels"]), run, case["metrics"], make_comparable=comparable)
    except AssertionError as error:
        return {"refused": str(error)}
    return {
        metric: {question: float(value) for question, value in values.items()}
        for metric, values in run.scores.items()
    }


if __name__ == "__main__":
    json.dump([_answer(case) for case in json.load(sys.stdin)], sys.stdout)
