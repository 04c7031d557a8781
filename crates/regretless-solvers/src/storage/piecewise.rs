//! Piecewise linear functions of the stored level, and the two operations of the dynamic program: a
//! convex function is convolved segment by segment, any other by minima over sliding windows.

use std::collections::VecDeque;

/// Lengths below this, relative to the largest level, are rounding.
pub(super) const RELATIVE_LENGTH_TOLERANCE: f64 = 1e-12;

/// A point of a function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LevelPoint {
    pub level: f64,
    pub value: f64,
}

/// A linear piece: how long it is, and how the value changes along it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Piece {
    pub length: f64,
    pub slope: f64,
}

/// A continuous function on an interval, by its breakpoints in increasing order of the level.
#[derive(Debug, Clone, Default)]
pub(super) struct PiecewiseLinear {
    pub points: Vec<LevelPoint>,
}

/// Slopes that decrease by less than this, relative to their size, are equal up to rounding.
const RELATIVE_SLOPE_TOLERANCE: f64 = 1e-12;

impl PiecewiseLinear {
    /// Whether slopes do not decrease.
    pub fn is_convex(&self) -> bool {
        let mut previous = f64::NEG_INFINITY;
        for pair in self.points.windows(2) {
            let slope = (pair[1].value - pair[0].value) / (pair[1].level - pair[0].level);
            // Rounding may make equal slopes seem to decrease.
            if slope < previous - RELATIVE_SLOPE_TOLERANCE * previous.abs() {
                return false;
            }
            previous = slope;
        }
        true
    }

    /// The lowest and the highest level.
    pub fn interval(&self) -> Option<[f64; 2]> {
        Some([self.points.first()?.level, self.points.last()?.level])
    }

    /// The value at a level of the interval; levels beyond it by rounding are moved to its ends.
    pub fn value(&self, level: f64) -> f64 {
        let right = self.points.partition_point(|point| point.level < level);
        let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else {
            return f64::INFINITY;
        };
        if right == 0 {
            return first.value;
        }
        match self.points.get(right) {
            None => last.value,
            Some(next) => between(self.points[right - 1], *next, level),
        }
    }

    /// Adds a point behind the others; one that is on the line between its neighbors replaces the
    /// last.
    pub fn push(&mut self, point: LevelPoint, tolerance: f64) {
        // Two points at one level would give a slope of infinite size.
        if let Some(last) = self.points.last()
            && point.level - last.level <= tolerance
        {
            return;
        }
        if let [.., first, last] = self.points.as_slice() {
            // A point on the line between its neighbors carries no information; dropping it keeps
            // functions short.
            let straight = between(*first, point, last.level);
            let scale = last
                .value
                .abs()
                .max(first.value.abs())
                .max(point.value.abs());
            if (straight - last.value).abs() <= 1e-14 * scale {
                self.points.pop();
            }
        }
        self.points.push(point);
    }

    /// Leaves the levels of an interval only; empty if there are none.
    pub fn cut(&mut self, [lowest, highest]: [f64; 2], tolerance: f64) {
        let Some([first, last]) = self.interval() else {
            return;
        };
        let [from, to] = [first.max(lowest), last.min(highest)];
        if from > to + tolerance {
            self.points.clear();
            return;
        }
        // Within the tolerance the ends may cross.
        let (from, to) = (from.min(to), to);
        let ends = [from, to].map(|level| LevelPoint {
            level,
            value: self.value(level),
        });
        self.points
            // Points near the new ends are replaced by these.
            .retain(|point| point.level > from + tolerance && point.level < to - tolerance);
        self.points.insert(0, ends[0]);
        if to > from + tolerance {
            self.points.push(ends[1]);
        }
    }
}

/// The value on the line through two points.
fn between(first: LevelPoint, second: LevelPoint, level: f64) -> f64 {
    let length = second.level - first.level;
    // A vertical step: the lower value counts, since the function is minimized.
    if length <= 0.0 {
        return first.value.min(second.value);
    }
    let share = (level - first.level) / length;
    first.value + share * (second.value - first.value)
}

/// What a step may change: pieces of the change of the level, from `start` on, and the cost at
/// `start`.
#[derive(Debug, Clone, Default)]
pub(super) struct StageCost {
    pub start: f64,
    pub value: f64,
    pub pieces: Vec<Piece>,
}

impl StageCost {
    /// The largest change.
    pub fn end(&self) -> f64 {
        self.start + self.pieces.iter().map(|piece| piece.length).sum::<f64>()
    }

    /// The cost of a change.
    pub fn cost(&self, change: f64) -> f64 {
        let mut rest = change - self.start;
        let mut value = self.value;
        for piece in &self.pieces {
            // The last pieces are not reached by a small change.
            let part = rest.clamp(0.0, piece.length);
            value += part * piece.slope;
            rest -= part;
        }
        value
    }

    pub fn is_convex(&self) -> bool {
        self.pieces
            .windows(2)
            .all(|pair| pair[0].slope <= pair[1].slope)
    }
}

/// Minimizes `stage(change) + after(level + change)` over the changes of a step, for every level,
/// where both functions are convex: the pieces of both, in the order of their slopes.
pub(super) fn convolve_convex(
    after: &PiecewiseLinear,
    stage: &StageCost,
    pieces: &mut Vec<Piece>,
    result: &mut PiecewiseLinear,
    tolerance: f64,
) {
    result.points.clear();
    let Some(first) = after.points.first() else {
        return;
    };
    pieces.clear();
    // A change by d is seen from the level before it as a step by -d.
    // Reversed, since the direction changes too: slopes are increasing again.
    pieces.extend(stage.pieces.iter().rev().map(|piece| Piece {
        length: piece.length,
        slope: -piece.slope,
    }));
    let stages = pieces.len();
    pieces.extend(after.points.windows(2).map(|pair| {
        let length = pair[1].level - pair[0].level;
        Piece {
            length,
            slope: (pair[1].value - pair[0].value) / length,
        }
    }));
    let end = stage.end();
    // From the lowest level that can reach the function at all.
    let mut point = LevelPoint {
        level: first.level - end,
        value: first.value + stage.cost(end),
    };
    result.points.push(point);
    let (mut own, mut other) = (0, stages);
    // The convolution of convex functions is their pieces in order of slope.
    while own < stages || other < pieces.len() {
        let takes_own =
            other >= pieces.len() || (own < stages && pieces[own].slope <= pieces[other].slope);
        let next = if takes_own { &mut own } else { &mut other };
        let piece = pieces[*next];
        *next += 1;
        // Pieces within the tolerance would only add points that are dropped again.
        if piece.length > tolerance {
            point.level += piece.length;
            point.value += piece.length * piece.slope;
            result.push(point, tolerance);
        }
    }
}

/// The same for any functions: for each piece of the stage the minimum over a sliding window, and
/// the minimum of these.
pub(super) fn convolve(
    after: &PiecewiseLinear,
    stage: &StageCost,
    result: &mut PiecewiseLinear,
    tolerance: f64,
) {
    result.points.clear();
    let mut start = stage.start;
    let mut value = stage.value;
    for piece in &stage.pieces {
        let window = window_minimum(after, start, *piece, value, tolerance);
        *result = if result.points.is_empty() {
            window
        } else {
            minimum(result, &window, tolerance)
        };
        start += piece.length;
        value += piece.length * piece.slope;
    }
    // Without pieces there is one change.
    if stage.pieces.is_empty() {
        let shifted = |point: &LevelPoint| LevelPoint {
            level: point.level - start,
            value: point.value + value,
        };
        result.points.extend(after.points.iter().map(shifted));
    }
}

/// For every level, the minimum over changes within one piece of the stage. With the slope of the
/// piece added to the function, it is the minimum over a window of constant length.
fn window_minimum(
    after: &PiecewiseLinear,
    start: f64,
    piece: Piece,
    value: f64,
    tolerance: f64,
) -> PiecewiseLinear {
    let mut result = PiecewiseLinear::default();
    let end = start + piece.length;
    let tilted: Vec<LevelPoint> = (after.points.iter())
        .map(|point| LevelPoint {
            level: point.level,
            value: point.value + piece.slope * point.level,
        })
        .collect();
    let (Some(first), Some(last)) = (tilted.first(), tilted.last()) else {
        return result;
    };
    let [lowest, highest] = [first.level, last.level];
    // Levels at which an end of the window passes a breakpoint.
    let mut events: Vec<f64> = (tilted.iter())
        .flat_map(|point| [point.level - end, point.level - start])
        .collect();
    events.sort_unstable_by(f64::total_cmp);
    let tilted = PiecewiseLinear { points: tilted };
    let untilt = |level: f64, minimum: f64| LevelPoint {
        level,
        value: minimum + value - piece.slope * (level + start),
    };
    // Breakpoints in the window whose values increase from front to back.
    let mut inside: VecDeque<LevelPoint> = VecDeque::new();
    let mut entered = 0;
    for (number, level) in events.iter().enumerate() {
        // The breakpoints of the closed window between this event and the next, by its middle.
        let next = events.get(number + 1).copied().unwrap_or(*level);
        let middle = 0.5 * (level + next);
        while let Some(point) = tilted.points.get(entered)
            && point.level <= middle + end
        {
            // A breakpoint that is not below a later one never is the minimum again (monotone
            // queue).
            while inside.back().is_some_and(|back| back.value >= point.value) {
                inside.pop_back();
            }
            inside.push_back(*point);
            entered += 1;
        }
        while inside
            .front()
            .is_some_and(|front| front.level < middle + start)
        {
            inside.pop_front();
        }
        let fixed = inside.front().map_or(f64::INFINITY, |front| front.value);
        // The three lines whose minimum counts between the two events.
        let line = |shift: f64| {
            [*level, next].map(|at| {
                let is_inside = middle + shift >= lowest && middle + shift <= highest;
                if is_inside {
                    tilted.value(at + shift)
                } else {
                    f64::INFINITY
                }
            })
        };
        let lines = [line(start), line(end), [fixed, fixed]];
        add_envelope(&mut result, [*level, next], &lines, &untilt, tolerance);
    }
    result
}

/// Adds the minimum of lines, given by their values at both ends of an interval.
fn add_envelope(
    result: &mut PiecewiseLinear,
    [from, to]: [f64; 2],
    lines: &[[f64; 2]],
    untilt: &impl Fn(f64, f64) -> LevelPoint,
    tolerance: f64,
) {
    // An infinite line has no finite points to interpolate.
    let at = |line: &[f64; 2], share: f64| {
        if line[0] == f64::INFINITY {
            f64::INFINITY
        } else {
            line[0] + share * (line[1] - line[0])
        }
    };
    let lowest = |share: f64| {
        lines
            .iter()
            .map(|line| at(line, share))
            .fold(f64::INFINITY, f64::min)
    };
    // Both ends, and where two lines cross: at most three times with three lines.
    let mut shares = [1.0; 5];
    shares[0] = 0.0;
    let mut count = 2;
    for (number, first) in lines.iter().enumerate() {
        for second in &lines[number + 1..] {
            let [left, right] = [first[0] - second[0], first[1] - second[1]];
            // Lines cross where the sign of their difference changes.
            if left.is_finite() && right.is_finite() && left * right < 0.0 {
                shares[count] = left / (left - right);
                count += 1;
            }
        }
    }
    let shares = &mut shares[..count];
    shares.sort_unstable_by(f64::total_cmp);
    for share in shares.iter().copied() {
        let minimum = lowest(share);
        if minimum < f64::INFINITY {
            result.push(untilt(from + share * (to - from), minimum), tolerance);
        }
    }
}

/// The minimum of two functions on the union of their intervals, which overlap.
fn minimum(first: &PiecewiseLinear, second: &PiecewiseLinear, tolerance: f64) -> PiecewiseLinear {
    let mut result = PiecewiseLinear::default();
    let mut levels: Vec<f64> = (first.points.iter().chain(&second.points))
        .map(|point| point.level)
        .collect();
    levels.sort_unstable_by(f64::total_cmp);
    let value = |function: &PiecewiseLinear, level: f64| match function.interval() {
        Some([lowest, highest]) if level >= lowest - tolerance && level <= highest + tolerance => {
            function.value(level)
        }
        _ => f64::INFINITY,
    };
    let plain = |level: f64, value: f64| LevelPoint { level, value };
    for pair in levels.windows(2) {
        // The middle decides, as at the ends both functions may be defined by rounding.
        let middle = 0.5 * (pair[0] + pair[1]);
        let line = |function: &PiecewiseLinear| {
            if value(function, middle) < f64::INFINITY {
                [value(function, pair[0]), value(function, pair[1])]
            } else {
                [f64::INFINITY; 2]
            }
        };
        let lines = [line(first), line(second)];
        add_envelope(&mut result, [pair[0], pair[1]], &lines, &plain, tolerance);
    }
    if let (true, [only, ..]) = (result.points.is_empty(), levels.as_slice()) {
        let lowest = value(first, *only).min(value(second, *only));
        result.push(plain(*only, lowest), tolerance);
    }
    result
}
