"""Figures of the pages on concepts and methods."""

import math

from figure_parts import Figure, between, box, node


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
}  # fmt: skip
