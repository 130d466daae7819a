// SPDX-License-Identifier: MIT OR Apache-2.0
//! One test after the other, since the words belong to the whole process.

use std::thread;

use super::*;

#[test]
fn ranges_are_asked_for_taken_back_and_refused_when_it_is_closed() {
    assert!(!ask(1..2));
    open();
    // Ten threads ask, each range is answered once.
    let placer = thread::spawn(|| {
        let mut sum = 0;
        for _ in 0..200 {
            let range = next().unwrap();
            assert!(take(&range));
            sum += range.len();
            done();
        }
        sum
    });
    let asking: Vec<_> =
        (1..11).map(|len| thread::spawn(move || (0..20).all(|_| ask(7..7 + len)))).collect();
    assert!(asking.into_iter().all(|thread| thread.join().unwrap()));
    assert_eq!(placer.join().unwrap(), 20 * (1..11).sum::<usize>());

    // Without a placer the request is taken back, and no other one is made.
    assert!(!ask(1..2));
    assert!(BEHIND.load(Ordering::Relaxed));
    assert!(!take(&(1..2)));
    assert!(!ask(3..4));
    assert_eq!((START.load(Ordering::Relaxed), STATE.load(Ordering::Relaxed)), (1, IDLE));

    // The placer does not take another range than the one that it prepared for.
    BEHIND.store(false, Ordering::Relaxed);
    let asks = thread::spawn(|| ask(5..6));
    let range = next().unwrap();
    assert!(!take(&(1..2)));
    assert!(take(&range));
    done();
    assert!(asks.join().unwrap());

    close();
    assert!(!ask(1..2));
    assert_eq!(next(), None);
    begin_anew();
    assert!(!ask(1..2));
    open();
    assert_eq!(STATE.load(Ordering::Relaxed), IDLE);
}
