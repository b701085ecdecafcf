//! Work shared out among threads, with answers in the order of the work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// As much as a main thread has: syntax trees are walked from node to node.
const STACK_BYTES: usize = 8 << 20;

/// Does all pieces of work, at most so many at once. Answers stand in the order of the pieces, however many threads there are;
/// the last pieces are begun first, so that what takes longest is not what all wait for in the end.
pub fn in_order<Piece: Sync, Answer: Send>(
    pieces: &[Piece],
    at_once: usize,
    work: impl Fn(&Piece) -> Answer + Sync,
) -> Vec<Answer> {
    let next = AtomicUsize::new(0);
    let turn = || {
        let mut done = Vec::new();
        loop {
            let Some(place) = pieces.len().checked_sub(next.fetch_add(1, Ordering::Relaxed) + 1) else { break done };
            done.push((place, work(&pieces[place])));
        }
    };
    let mut answers = thread::scope(|scope| {
        let wanted = at_once.min(pieces.len()).saturating_sub(1);
        // Where the system gives no more threads, those that there are do the rest.
        let others: Vec<_> = (0..wanted)
            .map_while(|_| thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, turn).ok())
            .collect();
        let mut answers = turn();
        for other in others {
            match other.join() {
                Ok(done) => answers.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        answers
    });
    answers.sort_by_key(|(place, _)| *place);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_stand_in_the_order_of_the_work() {
        let pieces: Vec<u64> = (0..97).collect();
        let squared: Vec<u64> = pieces.iter().map(|piece| piece * piece).collect();
        for at_once in [0, 1, 2, 7, 200] {
            let answers = in_order(&pieces, at_once, |piece| {
                thread::sleep(std::time::Duration::from_micros(97 - piece));
                piece * piece
            });
            assert_eq!(answers, squared, "{at_once}");
        }
        assert!(in_order(&[] as &[u64], 4, |piece| *piece).is_empty());
    }

    #[test]
    fn several_work_at_the_same_time() {
        let together = std::sync::Barrier::new(3);
        in_order(&[(), (), ()], 3, |()| together.wait().is_leader());
    }
}
