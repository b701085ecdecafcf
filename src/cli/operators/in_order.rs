//! Work on many things at the same time whose results come in their order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

/// Does `work` for each of `count` things, `at_once` of them at the same time. `soon` sees each result as soon as it is there, `each` takes
/// them in their order, whoever is done first.
pub(in crate::cli) fn in_order<T: Send>(
    count: usize,
    at_once: usize,
    work: impl Fn(usize) -> T + Sync,
    mut soon: impl FnMut(&T),
    mut each: impl FnMut(T),
) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for _ in 0..at_once.min(count) {
            let (sender, work, next) = (sender.clone(), &work, &next);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    // Nobody listens any more only where what takes the results has panicked.
                    if at >= count || sender.send((at, work(at))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting: Vec<Option<T>> = (0..count).map(|_| None).collect();
        let mut taken = 0;
        for (at, result) in receiver {
            soon(&result);
            waiting[at] = Some(result);
            while let Some(result) = waiting.get_mut(taken).and_then(Option::take) {
                each(result);
                taken += 1;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whoever_is_done_first() {
        let (gate, opened) = (std::sync::Barrier::new(2), std::sync::Mutex::new(Vec::new()));
        let mut order = Vec::new();
        // The first is done only after the last has begun, which another thread does meanwhile.
        let work = |at: usize| {
            if at == 0 || at == 3 {
                gate.wait();
            }
            at
        };
        in_order(4, 2, work, |at| opened.lock().unwrap().push(*at), |at| order.push(at));
        assert_eq!(order, [0, 1, 2, 3]);
        let opened = opened.into_inner().unwrap();
        assert_eq!((opened.len(), &opened[..2]), (4, &[1, 2][..]));
        in_order(0, 2, |at| at, |_| (), |_| panic!("there is nothing"));
    }
}
