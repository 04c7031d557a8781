//! Distances between nodes by their coordinates (Reinelt 1991, 1995).

/// The distance function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DistanceFunction {
    /// `EUC_2D`: Euclidean, rounded to the nearest integer.
    Euclidean,
    /// `CEIL_2D`: Euclidean, rounded up.
    Ceiling,
    /// `ATT`: pseudo-Euclidean.
    Att,
    /// `GEO`: on a sphere.
    Geographic,
    /// `EXPLICIT`: the file lists the distances.
    Explicit,
}

impl DistanceFunction {
    /// Costs of all edges {i, j}, i < j, in lexicographic order.
    pub(super) fn costs(self, positions: &[(f64, f64)]) -> Vec<f64> {
        let mut costs = Vec::with_capacity(positions.len() * positions.len().saturating_sub(1) / 2);
        for (i, a) in positions.iter().enumerate() {
            for b in &positions[i + 1..] {
                costs.push(self.distance(*a, *b));
            }
        }
        costs
    }

    fn distance(self, a: (f64, f64), b: (f64, f64)) -> f64 {
        let (dx, dy) = (a.0 - b.0, a.1 - b.1);
        let square = dx * dx + dy * dy;
        match self {
            Self::Euclidean => (square.sqrt() + 0.5).floor(),
            Self::Ceiling => square.sqrt().ceil(),
            Self::Att => {
                let exact = (square / 10.0).sqrt();
                let nearest = (exact + 0.5).floor();
                if nearest < exact {
                    nearest + 1.0
                } else {
                    nearest
                }
            }
            Self::Geographic => great_circle(a, b),
            Self::Explicit => 0.0,
        }
    }
}

/// Kilometers on TSPLIB's idealized earth between two points in degrees.minutes.
fn great_circle(a: (f64, f64), b: (f64, f64)) -> f64 {
    // TSPLIB's own values, which its optima depend on.
    #[allow(
        clippy::approx_constant,
        reason = "published optima were computed with this π"
    )]
    const PI: f64 = 3.141592;
    const RADIUS: f64 = 6378.388;
    let radians = |value: f64| PI * (value.trunc() + 5.0 * (value - value.trunc()) / 3.0) / 180.0;
    let (latitude_a, longitude_a) = (radians(a.0), radians(a.1));
    let (latitude_b, longitude_b) = (radians(b.0), radians(b.1));
    // The names of TSPLIB's own formula.
    let q1 = (longitude_a - longitude_b).cos();
    let q2 = (latitude_a - latitude_b).cos();
    let q3 = (latitude_a + latitude_b).cos();
    (RADIUS * (0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)).acos() + 1.0).floor()
}
