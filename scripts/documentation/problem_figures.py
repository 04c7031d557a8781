"""Figures of the pages on problem kinds."""

from figure_parts import Figure, between, node


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


FIGURES = {
    "problem-grid-path": grid_path, "problem-graph-path": graph_path, "problem-knapsack": knapsack,
    "problem-top-k": top_k, "problem-assignment": assignment,
    "problem-multiple-choice-knapsack": multiple_choice, "problem-min-cost-flow": min_cost_flow,
    "problem-transport": transport, "problem-tsp": tsp, "problem-cvrp": cvrp,
    "problem-spanning-tree": spanning_tree, "problem-storage": storage, "problem-linear": linear,
}  # fmt: skip
