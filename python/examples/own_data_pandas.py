"""Your own table in pandas: choose the 6 cheapest of 24 hours from a weather forecast.

Needs pandas and scikit-learn.
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

import regretless as rl
from regretless.sklearn import DecisionFocusedRegressor

random = np.random.default_rng(0)
days = 400
weather = pd.DataFrame(
    {
        "wind": random.gamma(2.0, 3.0, days),
        "sun": random.uniform(0, 1, days),
        "weekend": random.integers(0, 2, days),
    }
)
wind, sun, weekend = (weather[[name]].to_numpy() for name in weather.columns)
hours = np.arange(24)[None]
demand = 40 + 15 * np.sin((hours - 8) / 24 * 2 * np.pi) * (1 - 0.4 * weekend)
cheap = np.exp(-wind / 12 * np.where(hours > 12, 1.0, 0.5)) * (
    1 - 0.7 * sun * np.clip(np.sin((hours - 6) / 12 * np.pi), 0, None)
)
prices = pd.DataFrame(
    demand * cheap * random.uniform(0.8, 1.2, (days, 24)),
    columns=[f"hour {hour}" for hour in range(24)],
)

# The problem: choose 6 of 24 hours, as cheap as possible.
problem = rl.Problem({"kind": "top_k", "items": 24, "k": 6, "at_most": False, "sense": "minimize"})

past, coming, past_prices, coming_prices = train_test_split(
    weather, prices, test_size=0.25, random_state=0
)
for method in ("MSE", "MAE(O,S)"):
    model = DecisionFocusedRegressor(problem, method=method, random_state=0)
    model.fit(past, past_prices)
    result = rl.evaluate(problem, model.predict(coming), C=coming_prices)
    print(
        f"{method}: {result.regret:.2f} more expensive per day than with perfect foresight; "
        f"{result.optimal_fraction:.0%} of days optimal"
    )

# The decisions of a DataFrame are a DataFrame with its index and the names of the prices.
tomorrow = model.decide(coming.head(1)).decisions.iloc[0]
print("run in", list(tomorrow.index[tomorrow > 0]))
