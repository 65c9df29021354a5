//! The same done to many things, by several threads.

/// Fewer things than these are not worth a thread.
const FEW: usize = 32;

/// What `f` makes of each of the things, in their order. Each is let go when it is done with.
pub(crate) fn each<T: Send, R: Send>(
    mut things: Vec<T>,
    threads: usize,
    f: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let share = things.len().div_ceil(threads.max(1)).max(FEW);
    if things.len() <= share {
        return things.into_iter().map(f).collect();
    }
    let f = &f;
    std::thread::scope(|scope| {
        let mut shares = Vec::new();
        while !things.is_empty() {
            let rest = things.split_off(share.min(things.len()));
            let share = std::mem::replace(&mut things, rest);
            shares.push(scope.spawn(move || share.into_iter().map(f).collect::<Vec<R>>()));
        }
        shares
            .into_iter()
            .flat_map(|share| match share.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once_and_stays_in_its_order() {
        for (things, threads) in [
            (0, 4),
            (1, 4),
            (31, 2),
            (100, 1),
            (100, 3),
            (1000, 4),
            (5, 0),
        ] {
            let things: Vec<usize> = (0..things).collect();
            let doubled: Vec<usize> = things.iter().map(|it| it * 2).collect();
            assert_eq!(each(things, threads, |it| it * 2), doubled, "{threads}");
        }
    }
}
