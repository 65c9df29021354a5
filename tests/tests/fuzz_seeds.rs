//! The fuzz targets over their seeds and over simple mutations of them, in every ordinary run.
//! `cargo xtask fuzz` looks further.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[expect(
    unreachable_pub,
    reason = "a library for the fuzz targets, a module here"
)]
#[path = "../../fuzz/src/lib.rs"]
mod targets;

/// Mutations made of each seed and of each kind.
const EACH: usize = 24;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .filter_map(|entry| {
            Some(
                entry
                    .ok()?
                    .path()
                    .file_stem()?
                    .to_string_lossy()
                    .into_owned(),
            )
        })
        .collect()
}

/// The same few changes in every run: cut ends, flipped bits, hostile bytes put in, parts repeated.
fn mutations(seed: &[u8]) -> Vec<Vec<u8>> {
    const HOSTILE: [&[u8]; 8] = [
        b"\0",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\n\n",
        b"\"",
        b"\xf0\x9f",
        b"[[[[[[[[[[[[[[[[",
        "\u{202e}\u{2028}".as_bytes(),
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).expect("31 bits fit") % below.max(1)
    };
    let mut made = vec![Vec::new(), seed.to_vec()];
    for round in 0..EACH {
        made.push(seed[..next(seed.len())].to_vec());
        let mut flipped = seed.to_vec();
        for _ in 0..=round % 4 {
            let position = next(flipped.len());
            if let Some(byte) = flipped.get_mut(position) {
                *byte ^= 1 << next(8);
            }
        }
        made.push(flipped);
        let mut hostile = seed.to_vec();
        let position = next(hostile.len());
        hostile.splice(
            position..position,
            HOSTILE[round % HOSTILE.len()].iter().copied(),
        );
        made.push(hostile);
        let (start, end) = (next(seed.len()), next(seed.len()));
        let part = &seed[start.min(end)..start.max(end)];
        made.push([seed, part, part].concat());
    }
    made
}

#[test]
fn every_target_has_seeds_and_a_program() {
    let targets: BTreeSet<String> = targets::TARGETS
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    assert_eq!(names(&fuzz().join("seeds")), targets);
    assert_eq!(names(&fuzz().join("fuzz_targets")), targets);
    for name in targets {
        assert!(
            !names(&fuzz().join("seeds").join(&name)).is_empty(),
            "{name} has no seed"
        );
    }
}

#[test]
fn no_seed_and_no_mutation_of_one_breaks_its_target() {
    for (name, target) in targets::TARGETS {
        let mut seeds: Vec<PathBuf> = fs::read_dir(fuzz().join("seeds").join(name))
            .expect("every target has seeds")
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        seeds.sort();
        for seed in seeds {
            // Shown only when the next lines panic.
            println!("{}", seed.display());
            for (number, input) in mutations(&fs::read(&seed).expect("a seed is a file"))
                .iter()
                .enumerate()
            {
                println!("mutation {number}");
                target(input);
            }
        }
    }
}
