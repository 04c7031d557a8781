"""Writes results whose title, problem, method and costs contain HTML.

    python hostile.py RESULTS.json TARGET.json

The decisions of the second problem become ones that cannot be drawn, so the page shows them as
tables.
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
table = results["problems"][1]
table["layout"] = None
table["cost_names"] = [f"column {index} {HOSTILE}" for index in range(table["costs"])]
with open(sys.argv[2], "w", encoding="utf-8") as target:
    json.dump(results, target)
