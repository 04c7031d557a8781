//! Closed forms of projections, for several cost vectors at once.

#[inline(always)]
pub(super) fn scale<const LANES: usize>(sum: &mut [f64; LANES], factor: f64) {
    for lane in 0..LANES {
        sum[lane] *= factor;
    }
}

/// The sum of all vectors: of even and of odd ones, so additions overlap.
#[inline(always)]
pub(super) fn total<const LANES: usize>(sums: &[[f64; LANES]]) -> [f64; LANES] {
    let (pairs, last) = sums.as_chunks::<2>();
    let (mut total, mut other) = ([0.0; LANES], [0.0; LANES]);
    for [first, second] in pairs {
        add(&mut total, first);
        add(&mut other, second);
    }
    if let [last] = last {
        add(&mut total, last);
    }
    add(&mut total, &other);
    total
}

#[inline(always)]
pub(super) fn add<const LANES: usize>(total: &mut [f64; LANES], sum: &[f64; LANES]) {
    for lane in 0..LANES {
        total[lane] += sum[lane];
    }
}

/// (sum − subtrahend) · factor for all vectors: two at a time, since the compiler would vectorize
/// a loop over single ones across vectors, with shuffles.
#[inline(always)]
pub(super) fn subtract_and_scale<const LANES: usize>(
    sums: &mut [[f64; LANES]],
    subtrahend: &[f64; LANES],
    factor: f64,
) {
    for sums in sums.chunks_mut(2) {
        for sum in sums {
            for lane in 0..LANES {
                sum[lane] = (sum[lane] - subtrahend[lane]) * factor;
            }
        }
    }
}

/// Solves (n − 2) y_i + Σ y = s_i over m rows: Σ y = Σ s / (n − 2 + m).
#[inline(always)]
pub(super) fn solve_degrees<const LANES: usize>(
    sums: &mut [[f64; LANES]],
    nodes: usize,
    with_depot: bool,
) {
    let sums = if with_depot {
        sums
    } else {
        sums[0] = [0.0; LANES];
        &mut sums[1..]
    };
    let diagonal = (nodes - 2) as f64;
    let mut solution_sum = total(sums);
    scale(&mut solution_sum, 1.0 / (diagonal + sums.len() as f64));
    subtract_and_scale(sums, &solution_sum, 1.0 / diagonal);
}

/// Means of columns and, with rows, means of rows less the mean of all.
#[inline(always)]
pub(super) fn solve_matrix<const LANES: usize>(
    sums: &mut [[f64; LANES]],
    [rows, columns]: [usize; 2],
    with_rows: bool,
) {
    let (row_sums, column_sums) = sums.split_at_mut(rows);
    for sum in column_sums.iter_mut() {
        scale(sum, 1.0 / rows as f64);
    }
    if !with_rows {
        row_sums.fill([0.0; LANES]);
        return;
    }
    subtract_and_scale(row_sums, &total(column_sums), 1.0 / columns as f64);
}
