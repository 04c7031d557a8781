"""Write the hand-drawn figures of the pages on concepts, methods and problems into docs/figures.

    python3 scripts/documentation/draw_figures.py [--check]

With --check, fail where a file differs from what would be written.
"""

import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "figures"
sys.path.insert(0, str(ROOT / "docs" / "gallery"))
from figure import Figure  # noqa: E402


def box(figure, x, y, width, lines, classes="wash"):
    """Draw a box with lines of text in its middle."""
    height = 14 + 17 * len(lines)
    figure.rect(x, y, width, height, classes, 6)
    for number, line in enumerate(lines):
        figure.text(x + width / 2, y + 19 + 17 * number, line, "small middle")
    return y + height


def node(figure, x, y, name="", classes="blue", radius=11):
    """Draw a node of a graph with its name."""
    figure.circle(x, y, radius, f"fill {classes}")
    if name:
        figure.text(x, y + 4.5, name, "small strong middle on")


def between(start, end, margin=13):
    """Return the ends of a line between two nodes, outside of both disks."""
    length = math.dist(start, end)
    step = ((end[0] - start[0]) / length * margin, (end[1] - start[1]) / length * margin)
    return start[0] + step[0], start[1] + step[1], end[0] - step[0], end[1] - step[1]


def pipeline():
    """Predict-then-optimize as boxes."""
    label = (
        "Features go into a predictor, which predicts costs; a solver turns them into a decision. "
        "The decision is judged by the true costs: its regret is the difference to the best one."
    )
    figure = Figure(304, label)
    box(figure, 20, 4, 130, ["features", "wind, load, weekday"])
    figure.arrow(85, 53, 85, 76)
    box(figure, 20, 78, 130, ["predictor (trained)"], "pale blue")
    figure.arrow(85, 110, 85, 133)
    box(figure, 20, 135, 130, ["predicted costs", "north 30, south 28"])
    figure.arrow(85, 184, 85, 207)
    box(figure, 20, 209, 130, ["solver (exact)"], "pale green")
    figure.arrow(150, 224, 226, 224)
    box(figure, 228, 201, 152, ["decision", "buy in the south"])
    figure.arrow(304, 199, 304, 152)
    box(figure, 228, 86, 152, ["true costs", "north 29, south 33"])
    figure.text(304, 146, "judged by", "small faint middle")
    figure.text(200, 272, "regret = 33 − 29 = 4", "strong middle ink red")
    figure.text(200, 292, "what the decision costs beyond the best one", "small faint middle")
    return figure


def accurate():
    """Show that a small error can change a decision, and a large one need not."""
    label = (
        "Two routes with true costs 10 and 12. A forecast of 11.2 and 10.9 has small errors and "
        "chooses the wrong route: regret 2. A forecast of 20 and 24 has large errors and chooses "
        "the right one: regret 0."
    )
    figure = Figure(236, label)
    groups = [
        ("true", 10.0, 12.0, 0, "", ""),
        ("small errors", 11.2, 10.9, 1, "error 1.2 and 1.1", "regret 2"),
        ("large errors", 20.0, 24.0, 0, "error 10 and 12", "regret 0"),
    ]
    for place, (name, first, second, chosen, errors, regret) in enumerate(groups):
        x = 14 + 134 * place
        for number, value in enumerate((first, second)):
            classes = "fill green" if number == chosen else "pale gray"
            figure.rect(x + 52 * number, 172, 42, -5.2 * value, classes)
            figure.text(x + 21 + 52 * number, 166 - 5.2 * value, f"{value:g}", "small middle")
            figure.text(x + 21 + 52 * number, 187, "AB"[number], "small middle")
        figure.text(x + 47, 14, name, "strong middle")
        figure.text(x + 47, 207, errors, "small faint middle")
        color = "red" if regret == "regret 2" else "green"
        figure.text(x + 47, 227, regret, f"strong middle ink {color}")
    figure.line(8, 172, 392, 172)
    return figure


def error_side():
    """Component O: the errors that can change the decision."""
    label = (
        "Two costs to be minimized on scales. Of a chosen item only an overestimate counts, of an "
        "item that is not chosen only an underestimate; the other side is free."
    )
    figure = Figure(196, label)
    for y, name, is_chosen in ((64, "chosen", True), (154, "not chosen", False)):
        figure.text(8, y - 34, name, "strong")
        figure.rect(200 if is_chosen else 20, y - 16, 180, 32, "pale red")
        figure.rect(20 if is_chosen else 200, y - 16, 180, 32, "pale green")
        figure.line(200, y - 20, 200, y + 20, "line thick")
        figure.text(200, y - 26, "true cost", "small middle")
        counted, free = (290, 110) if is_chosen else (110, 290)
        figure.text(counted, y + 5, "counts", "strong middle ink red")
        figure.text(free, y + 5, "free", "strong middle ink green")
    figure.text(20, 192, "lower prediction", "small faint")
    figure.text(380, 192, "higher prediction", "small faint end")
    return figure


def cost_range():
    """Component O_S: the free side extends to the end of the cost range."""
    label = (
        "The cost of a chosen item: the decision stays as long as the cost is below the end of its "
        "range. With O_S errors count only beyond that end."
    )
    figure = Figure(118, label)
    figure.text(8, 16, "chosen item", "strong")
    figure.rect(20, 44, 260, 32, "pale green")
    figure.rect(280, 44, 100, 32, "pale red")
    figure.line(160, 38, 160, 82, "line thick")
    figure.line(280, 38, 280, 82, "line dash")
    figure.text(160, 34, "true cost", "small middle")
    figure.text(280, 34, "end of its range", "small middle")
    figure.text(220, 65, "free", "strong middle ink green")
    figure.text(330, 65, "counts", "strong middle ink red")
    figure.text(
        200, 108, "up to the end of the range the decision does not change", "small faint middle"
    )
    return figure


def scale():
    """Component S: decisions depend on the direction of costs."""
    label = (
        "Two vectors of costs of the same direction and different length lead to the same "
        "decision. A vector of another direction beyond the line of equal costs leads to another."
    )
    figure = Figure(236, label)
    figure.arrow(30, 206, 30, 14)
    figure.arrow(30, 206, 386, 206)
    figure.text(36, 20, "cost of B", "small")
    figure.text(386, 226, "cost of A", "small end")
    figure.path([(30, 206), (222, 14), (30, 14)], "pale green", closed=True)
    figure.path([(30, 206), (222, 14), (386, 14), (386, 206)], "pale blue", closed=True)
    figure.line(30, 206, 222, 14, "line dash")
    figure.text(48, 60, "A is cheaper:", "small")
    figure.text(48, 77, "choose A", "small")
    figure.text(296, 172, "choose B", "small")
    figure.arrow(30, 206, 86, 122, "stroke green thick")
    figure.arrow(86, 122, 142, 38, "stroke green")
    figure.text(94, 134, "c", "strong ink green")
    figure.text(147, 50, "2c: same decision,", "small ink green")
    figure.text(155, 66, "the error is not counted", "small ink green")
    figure.arrow(30, 206, 118, 148, "stroke red thick")
    figure.text(124, 152, "other direction: other decision", "small ink red")
    return figure


def equality():
    """Component E: what the equality constraints absorb."""
    label = (
        "Two paths from s to t. Adding 5 to every arc that leaves s makes both paths longer by 5: "
        "the decision and the regret stay."
    )
    figure = Figure(196, label)
    places = {"s": (34, 92), "a": (200, 38), "b": (200, 146), "t": (366, 92)}
    arcs = [
        ("s", "a", "3 + 5", "green"),
        ("a", "t", "4", "green"),
        ("s", "b", "6 + 5", "gray"),
        ("b", "t", "2", "gray"),
    ]
    for start, end, cost, color in arcs:
        line = between(places[start], places[end])
        figure.arrow(*line, f"stroke {color}" + (" thick" if color == "green" else ""))
        x, y = (line[0] + line[2]) / 2, (line[1] + line[3]) / 2
        above = start == "a" or end == "a"
        figure.text(x, y + (-12 if above else 24), cost, "small strong middle")
    for name, (x, y) in places.items():
        node(figure, x, y, name)
    figure.text(200, 84, "7 → 12", "strong middle ink green")
    figure.text(200, 108, "8 → 13", "strong middle")
    figure.text(
        200, 188, "every path has one arc out of s: + 5 changes no decision", "small faint middle"
    )
    return figure


def weights():
    """Component C: instances are weighted by the regret of a baseline."""
    label = (
        "Three instances with the same prediction error. A baseline has regret 0, 1 and 6 on them; "
        "training weights the last one most, and the first one by the mean weight."
    )
    figure = Figure(178, label)
    rows = [("Mon", 4, 0, 0.875), ("Tue", 4, 1, 0.25), ("Wed", 4, 6, 1.5)]
    heads = ((96, "error"), (206, "regret"), (310, "weight"))
    for x, head in heads:
        figure.text(x, 16, head, "strong middle")
    for number, (day, error, regret, weight) in enumerate(rows):
        y = 34 + 42 * number
        figure.text(12, y + 18, day, "small")
        figure.rect(66, y, 15.0 * error, 26, "pale gray")
        figure.rect(176, y, max(11.0 * regret, 1.5), 26, "fill red")
        figure.rect(280, y, 60.0 * weight, 26, "fill blue")
    figure.text(
        200,
        172,
        "weight: regret / loss of a baseline; no regret: mean weight",
        "small faint middle",
    )
    return figure


def which_method():
    """Questions that lead to a method."""
    label = (
        "A chart of questions. Is a solve cheap, microseconds to milliseconds: SPO+, or MAE(O,S) "
        "then SPO+. Otherwise, do decisions repeat: MAP cache 0% or SPO+ cache 5%. Otherwise "
        "MAE(O,S), with C if one more solve per row is affordable. In doubt: auto."
    )
    figure = Figure(330, label)
    questions = [
        ("a solve takes microseconds", "to milliseconds?", ["SPO+", "MAE(O,S) then SPO+"]),
        ("expensive solves,", "decisions repeat?", ["MAP cache 0%", "SPO+ cache 5%"]),
        ("one more solve", "per row is fine?", ["MSE(C,O,S)", "MAE(C,O,S)"]),
    ]
    y = 6
    for first, second, methods in questions:
        box(figure, 6, y, 190, [first, second])
        figure.arrow(196, y + 24, 242, y + 24)
        figure.text(219, y + 18, "yes", "small middle")
        box(figure, 244, y, 150, methods, "pale green")
        figure.arrow(101, y + 48, 101, y + 78)
        figure.text(110, y + 67, "no", "small")
        y += 80
    box(
        figure, 6, y, 190, ["MAE(O,S): the first try,", "no solver calls in training"], "pale green"
    )
    box(figure, 244, y, 150, ["no time to choose:", "auto"], "pale blue")
    figure.text(200, 318, "then compare with least squares on your rows", "small faint middle")
    return figure


def surrogates():
    """Regret, SPO+ and PFYL of the example of two routes, over the predicted difference."""
    label = (
        "Two routes A and B with true costs 10 and 12, over the predicted difference of B and A. "
        "Regret is 2 below 0 and 0 above. SPO+ is max(0, 2 - 2 d), a convex upper bound. PFYL is "
        "smooth and falls towards 0."
    )
    figure = Figure(280, label)

    def spot(difference, loss):
        return 40 + 70 * (difference + 1.5), 232 - 40 * loss

    figure.arrow(*spot(-1.5, 0), *spot(3.5, 0))
    figure.arrow(*spot(-1.5, 0), *spot(-1.5, 5.4))
    figure.line(*spot(0, 0), *spot(0, 5.2), "grid")
    figure.line(*spot(2, 0), *spot(2, 5.2), "grid")
    steps = [-1.5 + 0.1 * number for number in range(49)]
    bound = [(d, max(0, 2 - 2 * d)) for d in steps]
    spread = math.sqrt(2)

    def smooth(d):
        below = 0.5 * math.erfc(d / spread / math.sqrt(2))
        density = math.exp(-((d / spread) ** 2) / 2) / math.sqrt(2 * math.pi)
        return -d * below + spread * density

    figure.path([spot(-1.5, 2), spot(0, 2)], "stroke red thick")
    figure.path([spot(0, 0), spot(3.3, 0)], "stroke red thick")
    figure.path([spot(*point) for point in bound], "stroke blue")
    figure.path([spot(d, smooth(d)) for d in steps], "stroke green")
    figure.text(*spot(-0.72, 4.4), "SPO+", "strong ink blue")
    figure.text(*spot(-1.4, 2.15), "regret", "strong ink red")
    figure.text(*spot(0.75, 0.65), "PFYL, σ = 1", "strong ink green")
    figure.text(spot(0, 0)[0], 250, "0: tie", "small middle")
    figure.text(spot(2, 0)[0], 250, "true: 2", "small middle")
    figure.text(396, 272, "predicted cost of B minus A", "small faint end")
    return figure


def cones():
    """The normal cone of a decision, and two target points."""
    label = (
        "The cone of all directions for which a decision is optimal. A prediction outside is drawn "
        "to its projection on the boundary (CaVE), or to a point further inside (inner)."
    )
    figure = Figure(262, label)
    figure.path([(40, 230), (118, 14), (392, 14), (392, 122)], "pale green", closed=True)
    figure.line(40, 230, 118, 14, "stroke green")
    figure.line(40, 230, 392, 122, "stroke green")
    figure.text(382, 34, "x* is optimal", "small end")
    figure.arrow(40, 230, 290, 236, "stroke red thick")
    figure.text(296, 241, "v = −ĉ", "strong ink red")
    # The foot of the perpendicular from the tip of v on the lower edge of the cone.
    edge, tip = (352.0, -108.0), (250.0, 6.0)
    share = (edge[0] * tip[0] + edge[1] * tip[1]) / (edge[0] ** 2 + edge[1] ** 2)
    foot = (40 + share * edge[0], 230 + share * edge[1])
    figure.line(290, 236, *foot, "line dash")
    figure.circle(*foot, 5, "fill blue")
    figure.text(foot[0] + 10, foot[1] + 16, "p: projection", "small ink blue")
    figure.arrow(40, 230, 226, 130, "stroke purple")
    figure.circle(226, 130, 5, "fill purple")
    figure.text(216, 118, "inner target", "small end ink purple")
    figure.circle(40, 230, 4, "fill gray")
    return figure


def pool():
    """A solution pool: decisions as points, valued by predicted costs."""
    label = (
        "Five decisions of a pool by their predicted cost. The optimal one should be cheapest: MAP "
        "pushes it below the cheapest other one, NCE below the mean of all."
    )
    figure = Figure(176, label)
    figure.arrow(20, 96, 388, 96)
    figure.text(388, 122, "predicted cost ĉ·x", "small end")
    for x in (70, 150, 205, 300):
        figure.circle(x, 96, 8, "fill gray")
    figure.circle(240, 96, 9, "fill green")
    figure.text(240, 78, "x*, optimal", "small strong middle ink green")
    figure.arrow(240, 138, 70, 138, "stroke blue")
    figure.text(155, 156, "MAP: below the cheapest", "small middle ink blue")
    figure.line(193, 84, 193, 108, "stroke purple thick")
    figure.arrow(240, 44, 193, 44, "stroke purple")
    figure.text(216, 34, "NCE: below the mean", "small middle ink purple")
    return figure


def grid_path():
    """A path on a grid."""
    figure = Figure(222, "A grid of 4 by 5 nodes with arcs right and down, and a path in bold")
    path = [(0, 0), (0, 1), (1, 1), (1, 2), (1, 3), (2, 3), (3, 3), (3, 4)]
    place = {(r, c): (40 + 80 * c, 26 + 56 * r) for r in range(4) for c in range(5)}
    for (row, column), start in place.items():
        for end in ((row, column + 1), (row + 1, column)):
            if end in place:
                on = (row, column) in path and end in path
                on = on and path.index(end) == path.index((row, column)) + 1
                classes = "stroke green thick" if on else "grid"
                figure.arrow(*between(start, place[end], 11), classes)
    for key, (x, y) in place.items():
        node(figure, x, y, "", "green" if key in path else "gray", 7)
    return figure


def graph_path():
    """A path through a road network."""
    figure = Figure(200, "A network of roads with names of nodes, and the shortest way in bold")
    places = {
        "home": (40, 100), "bridge": (150, 36), "park": (140, 164), "ring": (260, 150),
        "station": (262, 52), "work": (362, 104),
    }  # fmt: skip
    way = [("home", "bridge"), ("bridge", "station"), ("station", "work")]
    others = [
        ("home", "park"),
        ("park", "ring"),
        ("ring", "work"),
        ("park", "bridge"),
        ("station", "ring"),
    ]
    for start, end in others:
        figure.arrow(*between(places[start], places[end], 10))
    for start, end in way:
        figure.arrow(*between(places[start], places[end], 10), "stroke green thick")
    for name, (x, y) in places.items():
        node(figure, x, y, "", "green" if any(name in arc for arc in way) else "gray", 7)
        figure.text(x, y - 13, name, "small middle")
    return figure


def knapsack():
    """Items with weights and values, and the sack."""
    figure = Figure(190, "Five items with weight and value; three fit into a capacity of 10")
    items = [(3, 5, 1), (5, 7, 1), (4, 5, 0), (2, 3, 1), (6, 6, 0)]
    x = 14
    for weight, value, chosen in items:
        width = 14.0 * weight
        figure.rect(x, 30, width, 52, "fill green" if chosen else "pale gray")
        figure.text(
            x + width / 2, 24, f"value {value}" if width > 40 else f"{value}", "small middle"
        )
        figure.text(x + width / 2, 61, f"{weight}", "strong middle" + (" on" if chosen else ""))
        x += width + 17
    figure.text(14, 112, "capacity 10", "strong")
    figure.rect(14, 122, 280, 40, "wash")
    x = 14
    for weight, _, chosen in items:
        if chosen:
            figure.rect(x, 122, 28.0 * weight - 2, 40, "fill green")
            figure.text(x + 14 * weight, 147, weight, "strong middle on")
            x += 28 * weight
    figure.text(14, 182, "value 15", "small")
    return figure


def top_k():
    """The k best items."""
    figure = Figure(160, "Seven items with values as bars; the three highest are chosen")
    values = [31, 74, 52, 18, 66, 80, 40]
    best = sorted(values)[-3:]
    for number, value in enumerate(values):
        x = 22 + 53 * number
        chosen = value in best
        figure.rect(x, 130, 38, -1.3 * value, "fill green" if chosen else "pale gray")
        figure.text(x + 19, 124 - 1.3 * value, value, "small middle")
    figure.line(12, 130, 390, 130)
    figure.text(200, 152, "k = 3", "strong middle")
    return figure


def assignment():
    """Agents and tasks as a bipartite graph."""
    figure = Figure(196, "Three agents and four tasks; every agent has one task, one task is left")
    agents = {"Ann": (90, 36), "Ben": (90, 96), "Cem": (90, 156)}
    tasks = {"1": (310, 24), "2": (310, 72), "3": (310, 120), "4": (310, 168)}
    chosen = {("Ann", "2"), ("Ben", "1"), ("Cem", "4")}
    for agent, start in agents.items():
        for task, end in tasks.items():
            line = between(start, end, 13)
            figure.line(*line, "stroke green thick" if (agent, task) in chosen else "grid")
    for agent, (x, y) in agents.items():
        node(figure, x, y)
        figure.text(x - 18, y + 5, agent, "end")
    for task, (x, y) in tasks.items():
        node(figure, x, y, "", "purple")
        figure.text(x + 18, y + 5, f"task {task}")
    return figure


def multiple_choice():
    """One offer per customer within a budget."""
    figure = Figure(
        176, "Three customers with three offers each; one of each is chosen within a budget"
    )
    offers = [("Ann", [0, 5, 10], 1), ("Ben", [0, 5, 10], 0), ("Cem", [0, 5, 10], 2)]
    for row, (name, amounts, chosen) in enumerate(offers):
        y = 12 + 46 * row
        figure.text(12, y + 23, name, "strong")
        for number, amount in enumerate(amounts):
            x = 80 + 102 * number
            figure.rect(x, y, 92, 34, "fill green" if number == chosen else "wash", 6)
            text = f"voucher {amount}" if amount else "nothing"
            figure.text(x + 46, y + 22, text, "small middle" + (" on" if number == chosen else ""))
    figure.text(200, 168, "5 + 0 + 10 ≤ budget 15", "strong middle")
    return figure


def min_cost_flow():
    """A flow through a network."""
    figure = Figure(190, "A plant sends 3 units to a shop: 2 through the port and 1 by road")
    places = {"plant": (46, 96), "port": (200, 40), "depot": (200, 152), "shop": (354, 96)}
    arcs = [
        ("plant", "port", "2 of 3", "green"), ("port", "shop", "2 of 2", "green"),
        ("plant", "depot", "1 of 2", "blue"), ("depot", "shop", "1 of 4", "blue"),
    ]  # fmt: skip
    for start, end, flow, color in arcs:
        line = between(places[start], places[end])
        figure.arrow(*line, f"stroke {color}" + (" thick" if color == "green" else ""))
        shift = -10 if "port" in (start, end) else 24
        figure.text((line[0] + line[2]) / 2, (line[1] + line[3]) / 2 + shift, flow, "small middle")
    for name, (x, y) in places.items():
        node(figure, x, y)
        figure.text(x, y - 17, name, "small middle")
    figure.text(46, 130, "+3", "strong middle")
    figure.text(354, 130, "−3", "strong middle")
    return figure


def transport():
    """Sources and destinations with amounts."""
    figure = Figure(180, "Two sources with supplies 4 and 3.5 serve three destinations")
    sources = {"north": (96, 50, "4.0"), "south": (96, 128, "3.5")}
    targets = {"a": (300, 28, "2"), "b": (300, 88, "1"), "c": (300, 150, "3")}
    used = {("north", "a"): "2", ("north", "b"): "1", ("south", "c"): "3"}
    for source, (x, y, _) in sources.items():
        for target, (x2, y2, _) in targets.items():
            line = between((x, y), (x2, y2))
            flow = used.get((source, target))
            figure.arrow(*line, "stroke green thick" if flow else "grid")
            if flow:
                figure.text(
                    (line[0] + line[2]) / 2, (line[1] + line[3]) / 2 - 8, flow, "small strong"
                )
    for name, (x, y, amount) in sources.items():
        node(figure, x, y)
        figure.text(x - 18, y + 5, f"{name} {amount}", "end")
    for name, (x, y, amount) in targets.items():
        node(figure, x, y, "", "purple")
        figure.text(x + 18, y + 5, f"{name} needs {amount}")
    return figure


TOWN = [
    (52, 60),
    (120, 28),
    (208, 44),
    (300, 24),
    (356, 84),
    (318, 160),
    (226, 176),
    (150, 122),
    (70, 160),
]


def tsp():
    """A round tour."""
    figure = Figure(200, "A tour through nine towns")
    figure.path(TOWN, "stroke green thick", closed=True)
    for x, y in TOWN:
        node(figure, x, y, "", "blue", 8)
    return figure


def cvrp():
    """Routes from a depot."""
    figure = Figure(204, "Three routes from a depot to nine customers")
    depot = (200, 100)
    routes = [
        ([(120, 40), (58, 56), (70, 122)], "green"),
        ([(250, 30), (330, 40), (352, 104)], "blue"),
        ([(140, 176), (232, 182), (304, 166)], "purple"),
    ]
    for stops, color in routes:
        figure.path([depot, *stops], f"stroke {color} thick", closed=True)
        for x, y in stops:
            node(figure, x, y, "", color, 8)
    figure.rect(188, 88, 24, 24, "fill red")
    figure.text(200, 130, "depot", "small strong middle")
    return figure


def spanning_tree():
    """Edges that connect all nodes."""
    figure = Figure(200, "Nine places, connected by eight cables of least cost")
    tree = [(0, 1), (1, 2), (6, 7), (7, 8), (2, 3), (3, 4), (4, 5), (5, 6)]
    others = [(0, 8), (0, 7), (2, 7), (2, 6), (1, 7), (4, 6), (2, 4)]
    for a, b in others:
        figure.line(*TOWN[a], *TOWN[b], "grid")
    for a, b in tree:
        figure.line(*TOWN[a], *TOWN[b], "stroke green thick")
    for x, y in TOWN:
        node(figure, x, y, "", "blue", 8)
    return figure


def storage():
    """Prices, and when to buy and sell."""
    figure = Figure(
        214, "Prices of twelve hours; the battery is charged when they are low and sold when high"
    )
    prices = [30, 24, 20, 22, 36, 58, 66, 52, 40, 34, 62, 70]
    plan = [0, 1, 1, 0, 0, 0, -1, 0, 0, 1, 0, -1]
    for hour, (price, step) in enumerate(zip(prices, plan)):
        x = 20 + 31 * hour
        figure.rect(x, 120, 24, -1.4 * price, "pale gray")
        if step:
            color = "green" if step > 0 else "red"
            figure.rect(x, 158, 24, -24.0 * step, f"fill {color}")
    figure.line(12, 120, 392, 120)
    figure.line(12, 158, 392, 158)
    figure.text(14, 16, "price", "small")
    figure.text(20, 204, "green: buy, red: sell", "small faint")
    return figure


def linear():
    """A polyhedron, an objective and its best corner."""
    figure = Figure(
        204, "A polygon of feasible decisions with whole points; the objective has its best one"
    )
    corners = [(60, 170), (60, 60), (140, 24), (300, 60), (340, 130), (300, 170)]
    figure.path(corners, "pale blue", closed=True)
    figure.path(corners, "stroke blue", closed=True)
    for x in range(60, 341, 40):
        for y in range(50, 171, 40):
            figure.circle(x, y, 2.5, "fill gray")
    figure.circle(300, 90, 7, "fill green")
    figure.arrow(212, 146, 242, 90, "stroke red thick")
    figure.text(212, 163, "objective", "small middle ink red")
    figure.text(312, 86, "best", "small strong")
    return figure


def which_problem():
    """From what is unknown to what it is called."""
    label = (
        "Unknown prices of all options are costs: any kind of problem. Unknown quantities are a "
        "newsvendor. Prices of chosen options only are gaps: decisions as labels."
    )
    figure = Figure(214, label)
    figure.text(0, 16, "What is unknown when you decide?", "head")
    ways = [
        ("prices, times, profits", "of all options", "costs", "any kind", "blue"),
        ("quantities", "demand, arrivals", "demands", "newsvendor", "green"),
        ("prices, times, profits", "of chosen options only", "gaps", "labels", "purple"),
    ]
    for number, (unknown, which, name, kind, color) in enumerate(ways):
        y = 30 + 62 * number
        box(figure, 0, y, 168, [unknown, which])
        figure.arrow(168, y + 24, 196, y + 24)
        box(figure, 198, y + 8, 84, [name], f"pale {color}")
        figure.arrow(282, y + 24, 302, y + 24)
        box(figure, 304, y + 8, 96, [kind], f"pale {color}")
    return figure


FIGURES = {
    "concept-pipeline": pipeline, "concept-accurate": accurate, "concept-O": error_side,
    "concept-O_S": cost_range, "concept-S": scale, "concept-E": equality, "concept-C": weights,
    "method-surrogates": surrogates, "method-cones": cones, "method-pool": pool,
    "concept-which-method": which_method, "which-problem": which_problem,
    "problem-grid-path": grid_path, "problem-graph-path": graph_path, "problem-knapsack": knapsack,
    "problem-top-k": top_k, "problem-assignment": assignment,
    "problem-multiple-choice-knapsack": multiple_choice, "problem-min-cost-flow": min_cost_flow,
    "problem-transport": transport, "problem-tsp": tsp, "problem-cvrp": cvrp,
    "problem-spanning-tree": spanning_tree, "problem-storage": storage, "problem-linear": linear,
}  # fmt: skip


def main():
    """Write or check all figures."""
    for name, draw in FIGURES.items():
        path, text = FOLDER / f"{name}.svg", draw().svg()
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_text() != text:
                sys.exit(f"{path.name} is out of date; run {Path(__file__).name}")
        else:
            path.write_text(text)


if __name__ == "__main__":
    main()
