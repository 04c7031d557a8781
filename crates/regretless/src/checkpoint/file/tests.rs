use super::{
    BestEpoch, CHECKPOINT_FILE_FORMAT, Checkpoint, CheckpointHeader, CheckpointPosition,
    EpochRunnerState, from_file, to_file,
};
use crate::checksummed_file::ChecksummedFile;
use crate::decision::Decision;
use crate::optimizer::Moments;
use crate::oracle::{SolutionPool, SolveCounts};
use crate::report::{EpochReport, RoundReport, StopReason};

pub(super) fn checkpoint() -> Checkpoint {
    let epoch = |epoch, training_loss| EpochReport {
        epoch,
        training_loss,
        validation_loss: None,
        validation_regret: Some(0.1),
        seconds: 0.25,
    };
    let mut pool = SolutionPool::new(2);
    pool.extend(&[
        Decision::from_indices([1, 4]),
        Decision::from_dense(&[0.5, 0.0]),
        Decision::from_indices([7]),
    ]);
    let moments = Moments {
        steps: 9,
        mean: vec![0.5, -0.25],
        square: vec![1e-40, 2.0],
    };
    Checkpoint {
        position: CheckpointPosition {
            stage: 1,
            round: 2,
            epoch: 3,
        },
        state: EpochRunnerState {
            parameters: vec![1.5, -2.0],
            best_parameters: Some(vec![3.0, 4.0]),
            moments,
            pool: Some(pool),
            gram: vec![0.1],
            expansion_is_accurate: false,
        },
        best: Some(BestEpoch {
            epoch: 2,
            score: f64::INFINITY,
        }),
        epochs: vec![epoch(0, None), epoch(1, Some(0.1 + 0.2))],
        rounds: vec![RoundReport {
            method: "MSE".into(),
            epochs: vec![epoch(0, None)],
            best_epoch: 0,
            stopped: StopReason::Patience,
        }],
        networks: vec![vec![7.0, 8.0]],
        weights: Some(vec![0.1, 0.7]),
        loss_state: vec![1.0 / 3.0],
        counts: SolveCounts {
            exact: 5,
            ..SolveCounts::default()
        },
    }
}

/// A file with a correct checksum whose pool holds a decision with an index twice.
#[test]
fn forged_decisions_of_the_pool_are_refused() {
    let mut pool = SolutionPool::new(2);
    pool.extend(&[Decision::from_indices([1, 4])]);
    let mut checkpoint = checkpoint();
    checkpoint.state.pool = Some(pool);
    let mut file = to_file(checkpoint, "key".into());
    let mut indices: Vec<u32> = file.take_array("pool.indices").unwrap();
    assert_eq!(indices, [1, 4]);
    indices[1] = 1;
    assert!(from_file(file.with_array("pool.indices", indices)).is_none());
}

#[test]
fn a_checkpoint_reads_back_as_it_was_written() {
    let bytes = to_file(checkpoint(), "key".into())
        .to_bytes(CHECKPOINT_FILE_FORMAT)
        .unwrap();
    let back = from_file(
        ChecksummedFile::<CheckpointHeader>::from_bytes(&bytes, CHECKPOINT_FILE_FORMAT).unwrap(),
    )
    .unwrap();
    assert_eq!(
        to_file(back.clone(), "key".into())
            .to_bytes(CHECKPOINT_FILE_FORMAT)
            .unwrap(),
        bytes
    );
    assert_eq!(
        (back.position, back.best, back.epochs),
        (
            checkpoint().position,
            checkpoint().best,
            checkpoint().epochs
        )
    );
    assert_eq!(
        (back.rounds, back.counts),
        (checkpoint().rounds, checkpoint().counts)
    );
    assert_eq!(back.state.moments, checkpoint().state.moments);
    assert_eq!(back.state.pool.unwrap().eviction_state(), (2, 1));
}

#[test]
fn every_truncation_and_every_flipped_bit_is_noticed() {
    let bytes = to_file(checkpoint(), "key".into())
        .to_bytes(CHECKPOINT_FILE_FORMAT)
        .unwrap();
    for length in 0..bytes.len() {
        assert!(
            ChecksummedFile::<CheckpointHeader>::from_bytes(
                &bytes[..length],
                CHECKPOINT_FILE_FORMAT
            )
            .is_err(),
            "cut at {length}"
        );
    }
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(
            ChecksummedFile::<CheckpointHeader>::from_bytes(&damaged, CHECKPOINT_FILE_FORMAT)
                .is_err(),
            "bit {bit}"
        );
    }
}
