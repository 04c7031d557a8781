"""Writes results as those of a smoke test: without ratios, and marked as one.

    python smoke.py RESULTS.json TARGET.json
"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as source:
    results = json.load(source)
results["is_smoke_test"] = True
results["figures"] = ["curves", "solves", "examples"]
for problem in results["problems"]:
    for method in problem["methods"]:
        method["ratio"].update(mean=None, sd=None)
        method.update(difference=None, published=None, on_front=False, is_best=False)
with open(sys.argv[2], "w", encoding="utf-8") as target:
    json.dump(results, target)
