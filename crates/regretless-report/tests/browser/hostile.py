"""Writes results whose title, problem and method contain HTML.

    python hostile.py RESULTS.json TARGET.json
"""

import json
import sys

HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"

with open(sys.argv[1], encoding="utf-8") as source:
    results = json.load(source)
results["title"] += " " + HOSTILE
results["provenance"]["command"] += HOSTILE
results["problems"][-1]["name"] += HOSTILE
for problem in results["problems"]:
    problem["methods"][-1]["name"] += HOSTILE
with open(sys.argv[2], "w", encoding="utf-8") as target:
    json.dump(results, target)
