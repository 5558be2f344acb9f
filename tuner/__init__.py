"""Search for schedules with measurements: what is tried, who chooses next, how it is measured, what is kept."""

SAMPLERS = {
    "expected": "the largest expected improvement, by the model's prediction and its errors so far",
    "model": "the model's order",
    "tpe": "Optuna's tree-structured Parzen estimator",
    "random": "any, each with the same chance",
    "exhaustive": "all, in the model's order",
    "cmaes": "Optuna's CMA-ES",
    "genetic": "Optuna's genetic algorithm (NSGA-II)",
}
"""The samplers by name, and what each takes next."""
