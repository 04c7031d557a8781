//! The critical difference of mean ranks (Nemenyi 1963, as in Demšar 2006):
//! q · √(k (k + 1) / (6 n)) for k methods on n tasks, with q the 95 % quantile of the range of k
//! standard normal variables, divided by √2.

use std::f64::consts::{PI, SQRT_2};

/// Nodes of the integral over the smallest variable; with twice as many, q changes by less than
/// 1e-9.
const NODES: usize = 400;
/// Where the density of the normal distribution is negligible.
const FAR: f64 = 8.0;

/// The difference of mean ranks from which two methods differ significantly at 95 %.
pub(super) fn critical_difference(methods: usize, tasks: usize) -> f64 {
    let (k, n) = (methods as f64, tasks as f64);
    nemenyi_quantile(methods) * (k * (k + 1.0) / (6.0 * n)).sqrt()
}

/// The 95 % quantile of the range of `methods` standard normal variables, divided by √2.
fn nemenyi_quantile(methods: usize) -> f64 {
    let (mut low, mut high) = (0.0, 2.0 * FAR);
    // Bisection to the precision of a double.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if probability_of_range(methods, middle) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low / SQRT_2
}

/// The probability that k standard normal variables lie within a range:
/// k ∫ φ(x) (Φ(x + range) − Φ(x))^(k − 1) dx, with x the smallest of them. By the trapezoidal
/// rule, whose error vanishes exponentially for such an integrand.
fn probability_of_range(methods: usize, range: f64) -> f64 {
    let step = 2.0 * FAR / NODES as f64;
    let exponent = i32::try_from(methods - 1).unwrap_or(i32::MAX);
    let integrand = |node: usize| {
        let x = -FAR + node as f64 * step;
        density(x) * (distribution(x + range) - distribution(x)).powi(exponent)
    };
    let sum: f64 = (0..=NODES).map(integrand).sum();
    methods as f64 * sum * step
}

/// The density φ of the standard normal distribution.
fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// The distribution function Φ of the standard normal distribution, by the series of Marsaglia
/// ("Evaluating the Normal Distribution", 2004): 1/2 + φ(x) (x + x³/3 + x⁵/(3·5) + …).
fn distribution(x: f64) -> f64 {
    if x.abs() > FAR {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut term, mut sum, mut divisor) = (x, 0.0, 1.0);
    while sum + term != sum {
        sum += term;
        divisor += 2.0;
        term *= x * x / divisor;
    }
    0.5 + density(x) * sum
}

#[cfg(test)]
mod tests {
    use super::{critical_difference, distribution, nemenyi_quantile};

    #[test]
    fn quantiles_are_those_of_the_paper() {
        // Demšar (2006), table 5(a), α = 0.05.
        for (methods, quantile) in [
            (2, 1.960),
            (3, 2.343),
            (4, 2.569),
            (5, 2.728),
            (6, 2.850),
            (7, 2.949),
            (8, 3.031),
            (9, 3.102),
            (10, 3.164),
        ] {
            let found = nemenyi_quantile(methods);
            // The paper cuts some digits off: 2.3437 is 2.343.
            assert!((found - quantile).abs() < 1e-3, "{methods}: {found}");
        }
    }

    #[test]
    fn the_critical_difference_is_that_of_the_papers_example() {
        // Four classifiers on 14 data sets: 2.569 · √(4 · 5 / (6 · 14)) = 1.25.
        assert!((critical_difference(4, 14) - 1.25).abs() < 0.005);
    }

    #[test]
    fn the_normal_distribution_is_that_of_tables() {
        for (x, probability) in [(0.0, 0.5), (1.0, 0.841_344_746), (-1.96, 0.024_997_895)] {
            assert!((distribution(x) - probability).abs() < 1e-9, "{x}");
        }
    }
}
