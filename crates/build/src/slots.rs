//! How many compilers run at once, whoever starts them.

use std::sync::{Condvar, Mutex, PoisonError};

/// A number of places, each for one compiler.
#[derive(Debug)]
pub(super) struct Slots {
    free: Mutex<usize>,
    given_back: Condvar,
    count: usize,
}

/// A place that is taken, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot<'slots>(&'slots Slots);

impl Slots {
    /// That many places, at least one.
    pub fn new(count: usize) -> Self {
        let count = count.max(1);
        Slots { free: Mutex::new(count), given_back: Condvar::new(), count }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Takes a place as soon as there is one.
    pub fn take(&self) -> Slot<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.given_back.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Slot(self)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.given_back.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn no_more_than_the_limit_are_taken_at_once_and_all_are_served() {
        for count in [0, 1, 3] {
            let slots = Slots::new(count);
            let (now, most, served) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        let _slot = slots.take();
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::sleep(Duration::from_millis(5));
                        now.fetch_sub(1, Ordering::SeqCst);
                        served.fetch_add(1, Ordering::SeqCst);
                    });
                }
            });
            assert_eq!(served.into_inner(), 8);
            assert_eq!(slots.count(), count.max(1));
            assert!(most.into_inner() <= slots.count());
        }
    }
}
