//! Near-duplicate requests: the same wish in other words, with other numbers, names and paths.
//!
//! Two requests are near-duplicates when the sets of their content words overlap by a Jaccard index
//! of at least [`THRESHOLD`]. Clusters are the connected components, so the result does not depend
//! on the order in which requests are read. A cluster that was stored keeps its name for ever.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::hash::sha256_hex;

/// Least share of content words two near-duplicates have in common.
pub const THRESHOLD: f64 = 0.7;

/// Words that do not tell one request from another.
const FILLERS: [&str; 40] = [
    "a", "an", "the", "please", "pls", "can", "could", "would", "you", "i", "we", "me", "my",
    "our", "us", "your", "to", "of", "in", "on", "for", "and", "or", "is", "are", "be", "it",
    "this", "that", "with", "now", "just", "some", "do", "again", "also", "so", "then", "thanks",
    "here",
];

/// The cluster of every new request. `known` are `(cluster, request)` rows of earlier nights; a new
/// request that is near one of them takes its cluster, else the new requests form clusters among
/// themselves, named after the smallest of their texts.
#[must_use]
pub fn assign(known: &[(String, String)], new: &[&str]) -> Vec<String> {
    let texts: Vec<Vec<String>> = known
        .iter()
        .map(|(_, text)| text.as_str())
        .chain(new.iter().copied())
        .map(|text| words(text).into_iter().collect())
        .collect();
    let mut components = Components::new(new.len());
    // Per new request: the nearest known one.
    let mut nearest: Vec<Option<(f64, &str)>> = vec![None; new.len()];
    for (a, b, similarity) in near_pairs(&texts, known.len()) {
        match (a.checked_sub(known.len()), b.checked_sub(known.len())) {
            (Some(a), Some(b)) => components.join(a, b),
            (None, Some(new)) | (Some(new), None) => {
                let cluster = known[a.min(b)].0.as_str();
                if nearest[new].is_none_or(|best| nearer((similarity, cluster), best)) {
                    nearest[new] = Some((similarity, cluster));
                }
            }
            (None, None) => {}
        }
    }
    let mut best: BTreeMap<usize, (f64, &str)> = BTreeMap::new();
    let mut smallest: BTreeMap<usize, String> = BTreeMap::new();
    for position in 0..new.len() {
        let root = components.root(position);
        if let Some(candidate) = nearest[position]
            && best
                .get(&root)
                .is_none_or(|&known| nearer(candidate, known))
        {
            best.insert(root, candidate);
        }
        let text = texts[known.len() + position].join(" ");
        let entry = smallest.entry(root).or_insert_with(|| text.clone());
        if text < *entry {
            *entry = text;
        }
    }
    (0..new.len())
        .map(|position| {
            let root = components.root(position);
            best.get(&root).map_or_else(
                || format!("c_{}", &sha256_hex(smallest[&root].as_bytes())[..12]),
                |(_, cluster)| (*cluster).to_owned(),
            )
        })
        .collect()
}

/// More similar first, then the smaller name.
fn nearer(a: (f64, &str), b: (f64, &str)) -> bool {
    match a.0.total_cmp(&b.0) {
        Ordering::Greater => true,
        Ordering::Equal => a.1 < b.1,
        Ordering::Less => false,
    }
}

/// Every pair at or above the threshold of which at least one is new (`position >= first_new`).
///
/// Prefix filter: with words ordered rarest first, two sets whose overlap reaches the threshold share
/// a word among the first `n − ⌈t·n⌉ + 1` of each, so only those are looked up.
fn near_pairs(texts: &[Vec<String>], first_new: usize) -> Vec<(usize, usize, f64)> {
    let mut frequency: HashMap<&str, usize> = HashMap::new();
    for text in texts {
        for word in text {
            *frequency.entry(word).or_default() += 1;
        }
    }
    let mut ordered: Vec<Vec<&str>> = texts
        .iter()
        .map(|text| text.iter().map(String::as_str).collect())
        .collect();
    for text in &mut ordered {
        text.sort_by(|a, b| frequency[a].cmp(&frequency[b]).then_with(|| a.cmp(b)));
    }
    let mut index: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut pairs = Vec::new();
    for (position, text) in ordered.iter().enumerate() {
        let mut candidates = BTreeSet::new();
        for word in &text[..prefix(text.len())] {
            let entry = index.entry(word).or_default();
            candidates.extend(entry.iter().copied());
            entry.push(position);
        }
        for other in candidates {
            // `position` is the larger one: without it there is no new request in the pair.
            if position < first_new {
                continue;
            }
            let similarity = jaccard(&texts[other], &texts[position]);
            if similarity >= THRESHOLD {
                pairs.push((other, position, similarity));
            }
        }
    }
    pairs
}

fn prefix(length: usize) -> usize {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number of words of a request is small and positive"
    )]
    let needed = (THRESHOLD * length as f64).ceil() as usize;
    (length + 1).saturating_sub(needed.max(1)).min(length)
}

/// Jaccard index of two sorted sets.
fn jaccard(a: &[String], b: &[String]) -> f64 {
    let (mut shared, mut i, mut j) = (0_usize, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    let union = a.len() + b.len() - shared;
    if union == 0 {
        return 0.0;
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "the number of words of a request is small"
    )]
    let index = shared as f64 / union as f64;
    index
}

/// The content words of a request: lower case, quotes and fillers gone, numbers, versions, hashes and
/// paths made alike, Chinese and Japanese in pairs of characters.
fn words(text: &str) -> BTreeSet<String> {
    let lower = text
        .trim()
        .trim_matches(['"', '\'', '“', '”', '„', '`'])
        .to_lowercase();
    let mut all = BTreeSet::new();
    for token in lower.split_whitespace() {
        let bare =
            token.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '~' | '@'));
        if bare.contains('/') && bare.len() > 1 {
            all.insert("/path".to_owned());
            continue;
        }
        for part in token.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.'))) {
            add_word(part.trim_matches('.'), &mut all);
        }
    }
    let content: BTreeSet<String> = all
        .iter()
        .filter(|word| !FILLERS.contains(&word.as_str()))
        .cloned()
        .collect();
    if content.is_empty() { all } else { content }
}

fn add_word(word: &str, words: &mut BTreeSet<String>) {
    if word.is_empty() {
        return;
    }
    if word.chars().any(is_unspaced) {
        let letters: Vec<char> = word.chars().collect();
        for pair in letters.windows(2) {
            words.insert(pair.iter().collect());
        }
        if letters.len() == 1 {
            words.insert(word.to_owned());
        }
        return;
    }
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let version = word.trim_start_matches('v');
    let numeric = digits > 0 && version.chars().all(|c| c.is_ascii_digit() || c == '.');
    let hash = word.len() >= 7 && digits > 0 && word.chars().all(|c| c.is_ascii_hexdigit());
    words.insert(if numeric || hash {
        "#".to_owned()
    } else {
        word.to_owned()
    });
}

/// Scripts written without spaces between words.
const fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Disjoint sets.
struct Components(Vec<usize>);

impl Components {
    fn new(size: usize) -> Self {
        Self((0..size).collect())
    }

    fn root(&mut self, mut position: usize) -> usize {
        while self.0[position] != position {
            self.0[position] = self.0[self.0[position]];
            position = self.0[position];
        }
        position
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        // The smaller position stays the root, whatever the order of joining.
        self.0[a.max(b)] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(a: &str, b: &str) -> bool {
        let clusters = assign(&[], &[a, b]);
        clusters[0] == clusters[1]
    }

    #[test]
    fn the_same_wish_in_other_words_is_one_cluster() {
        let alike = [
            (
                "Write release notes for v1.2",
                "Please write the release notes for v1.3",
            ),
            (
                "\"Draft a note to customers\"",
                "Draft a note to our customers",
            ),
            ("Summarise src/a.rs for me", "Summarise lib/b/c.rs for me"),
            (
                "Explain commit 4f2a9c1d in one line",
                "Explain commit 77b0e2f0 in one line",
            ),
            ("请把这段话翻译成英文", "请把这段话翻译成英文吧"),
        ];
        for (a, b) in alike {
            assert!(same(a, b), "{a} | {b}");
        }
        let different = [
            ("Explain what a mutex is", "Explain what a semaphore is"),
            ("Write a haiku about rain", "Write a limerick about snow"),
            ("今天天气怎么样", "请把这段话翻译成英文"),
        ];
        for (a, b) in different {
            assert!(!same(a, b), "{a} | {b}");
        }
    }

    #[test]
    fn a_stored_cluster_keeps_its_name_and_attracts_new_requests() {
        let known = vec![(
            "c_old".to_owned(),
            "Write release notes for v1.2".to_owned(),
        )];
        let clusters = assign(&known, &["Write release notes for v2.0", "Suggest a soup"]);
        assert_eq!(clusters[0], "c_old");
        assert_ne!(clusters[1], "c_old");
    }

    proptest! {
        #[test]
        fn the_order_of_requests_does_not_matter(
            mut texts in prop::collection::vec("[abcd]{1,2}( [abcd]{1,2}){0,6}", 1..20)
        ) {
            let grouping = |texts: &[String]| {
                let refs: Vec<&str> = texts.iter().map(String::as_str).collect();
                let mut pairs: Vec<(String, String)> = texts.iter().cloned().zip(assign(&[], &refs)).collect();
                pairs.sort();
                pairs
            };
            let forward = grouping(&texts);
            texts.reverse();
            prop_assert_eq!(forward, grouping(&texts));
        }

        #[test]
        fn the_index_finds_what_comparing_everything_finds(
            texts in prop::collection::vec("[abcdef]{1,2}( [abcdef]{1,2}){0,6}", 1..15)
        ) {
            let sets: Vec<Vec<String>> = texts.iter().map(|text| words(text).into_iter().collect()).collect();
            let mut expected = Vec::new();
            for b in 0..sets.len() {
                for a in 0..b {
                    let similarity = jaccard(&sets[a], &sets[b]);
                    if similarity >= THRESHOLD {
                        expected.push((a, b, similarity));
                    }
                }
            }
            let mut found = near_pairs(&sets, 0);
            found.sort_by_key(|pair| (pair.1, pair.0));
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn any_text_is_taken(text in "\\PC{0,80}") {
            prop_assert_eq!(assign(&[], &[&text]).len(), 1);
        }
    }
}
