"""scikit-learn: an estimator trained for decisions, and a score that measures them.

Examples
--------
>>> from regretless.sklearn import DecisionFocusedRegressor, make_regret_scorer
>>> estimator = DecisionFocusedRegressor(problem, method="MAE(O,S)", random_state=0).fit(X, C)
>>> costs = estimator.predict(X)
>>> decisions = estimator.decide(X).decisions
>>> estimator.score(X, C)  # minus the normalized regret: 0 is perfect
>>> search = GridSearchCV(any_regressor, grid, scoring=make_regret_scorer(problem))
"""

from regretless.sklearn._regressor import DecisionFocusedRegressor
from regretless.sklearn._regret_score import regret_score
from regretless.sklearn._scorer import _RegretScorer as _RegretScorer
from regretless.sklearn._scorer import make_regret_scorer

__all__ = ["DecisionFocusedRegressor", "make_regret_scorer", "regret_score"]
