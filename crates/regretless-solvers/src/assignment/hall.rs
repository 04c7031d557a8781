//! Whether forbidden pairs leave an assignment: a maximum matching by augmenting paths, and if it
//! does not cover every row, a set of rows that have too few columns together (Hall 1935).

use std::collections::VecDeque;

use super::shortest_augmenting_path::NONE;

/// Rows that have fewer columns together than they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HallViolator {
    /// The rows, increasing.
    pub rows: Vec<usize>,
    /// All columns that any of them may take, increasing.
    pub columns: Vec<usize>,
}

/// Finds rows that cannot all get a column of their own; `None` if every row can.
pub fn find_hall_violator(
    rows: usize,
    cols: usize,
    is_allowed: impl Fn(usize, usize) -> bool,
) -> Option<HallViolator> {
    let mut row_of = vec![NONE; cols];
    let mut unmatched = Vec::new();
    for row in 0..rows {
        match (0..cols).find(|column| row_of[*column] == NONE && is_allowed(row, *column)) {
            Some(column) => row_of[column] = row as u32,
            None => unmatched.push(row),
        }
    }
    // The row from which each column was reached.
    let mut reached_from = vec![NONE; cols];
    let mut queue = VecDeque::new();
    for start in unmatched {
        reached_from.fill(NONE);
        queue.clear();
        queue.push_back(start);
        let mut reached_rows = vec![start];
        let mut free_column = None;
        'search: while let Some(row) = queue.pop_front() {
            for column in 0..cols {
                if reached_from[column] != NONE || !is_allowed(row, column) {
                    continue;
                }
                reached_from[column] = row as u32;
                match row_of[column] {
                    NONE => {
                        free_column = Some(column);
                        break 'search;
                    }
                    owner => {
                        queue.push_back(owner as usize);
                        reached_rows.push(owner as usize);
                    }
                }
            }
        }
        let Some(mut column) = free_column else {
            reached_rows.sort_unstable();
            let reached = (0..cols).filter(|column| reached_from[*column] != NONE);
            return Some(HallViolator {
                rows: reached_rows,
                columns: reached.collect(),
            });
        };
        loop {
            let row = reached_from[column];
            row_of[column] = row;
            if row as usize == start {
                break;
            }
            // The column that this row leaves: the one it was reached by.
            let left = (0..cols).find(|other| row_of[*other] == row && *other != column);
            match left {
                Some(left) => column = left,
                None => break,
            }
        }
    }
    None
}
