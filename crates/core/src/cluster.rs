//! Near-duplicate requests: the same wish in other words, with other numbers, names and paths.
//!
//! Two requests are near-duplicates when the sets of their content words overlap by a Jaccard index
//! of at least 0.7. Clusters are the connected components, so the result does not depend
//! on the order in which requests are read. A cluster that was stored keeps its name for ever.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::hash::sha256_hex;
use crate::judge::share;
use crate::script::is_unspaced;

/// Near-duplicates have at least this share of their content words in common, in tenths.
const TENTHS: usize = 7;

/// Words that do not tell one request from another.
const FILLERS: [&str; 40] = [
    "a", "an", "the", "please", "pls", "can", "could", "would", "you", "i", "we", "me", "my",
    "our", "us", "your", "to", "of", "in", "on", "for", "and", "or", "is", "are", "be", "it",
    "this", "that", "with", "now", "just", "some", "do", "again", "also", "so", "then", "thanks",
    "here",
];

/// The cluster of every new request. `known` are `(cluster, request)` rows of earlier nights; a new
/// request that is near one of them takes the nearest one's cluster. The others form clusters among
/// themselves: connected components, named after the smallest of their texts, or after the stored
/// cluster that a member of the component is nearest to.
#[must_use]
pub fn assign(known: &[(String, String)], new: &[&str]) -> Vec<String> {
    // Requests with the same words are one entry, so that a thousand repeats are no work.
    let mut entries: BTreeMap<Vec<String>, Entry<'_>> = BTreeMap::new();
    for (cluster, text) in known {
        let entry = entries.entry(content(text)).or_default();
        let smaller = entry.known.is_none_or(|known| cluster.as_str() < known);
        if smaller {
            entry.known = Some(cluster);
        }
    }
    for (position, text) in new.iter().enumerate() {
        let entry = entries.entry(content(text)).or_default();
        entry.new.push(position);
    }
    let (texts, entries): (Vec<Vec<String>>, Vec<Entry<'_>>) = entries.into_iter().unzip();
    let is_new = |entry: usize| !entries[entry].new.is_empty();

    let mut components = Components::new(entries.len());
    let mut nearest: Vec<Option<(f64, &str)>> = entries
        .iter()
        .map(|entry| entry.known.map(|cluster| (1.0, cluster)))
        .collect();
    for (a, b, similarity) in near_pairs(&texts, is_new) {
        if is_new(a) && is_new(b) {
            components.join(a, b);
        }
        for (one, other) in [(a, b), (b, a)] {
            if let Some(cluster) = entries[other].known {
                improve(&mut nearest[one], (similarity, cluster));
            }
        }
    }
    // What is near no stored request goes with the nearest one to its component.
    let mut best: Vec<Option<(f64, &str)>> = vec![None; entries.len()];
    let mut smallest: Vec<Option<String>> = vec![None; entries.len()];
    for entry in (0..entries.len()).filter(|entry| is_new(*entry)) {
        let root = components.root(entry);
        if let Some(candidate) = nearest[entry] {
            improve(&mut best[root], candidate);
        }
        let text = texts[entry].join(" ");
        if smallest[root].as_ref().is_none_or(|known| text < *known) {
            smallest[root] = Some(text);
        }
    }
    let mut clusters = vec![String::new(); new.len()];
    for (entry, Entry { new, .. }) in entries.iter().enumerate() {
        let root = components.root(entry);
        let cluster = nearest[entry].or(best[root]).map_or_else(
            || {
                let text = smallest[root].as_deref().unwrap_or_default();
                format!("c_{}", &sha256_hex(text.as_bytes())[..12])
            },
            |(_, cluster)| cluster.to_owned(),
        );
        for position in new {
            clusters[*position].clone_from(&cluster);
        }
    }
    clusters
}

/// Requests with the same content words.
#[derive(Default)]
struct Entry<'a> {
    /// The smallest name of a stored cluster with a request of these words.
    known: Option<&'a str>,
    /// Positions of the new requests of these words.
    new: Vec<usize>,
}

fn improve<'a>(best: &mut Option<(f64, &'a str)>, candidate: (f64, &'a str)) {
    if best.is_none_or(|known| nearer(candidate, known)) {
        *best = Some(candidate);
    }
}

/// More similar first, then the smaller name.
fn nearer(a: (f64, &str), b: (f64, &str)) -> bool {
    match a.0.total_cmp(&b.0) {
        Ordering::Greater => true,
        Ordering::Equal => a.1 < b.1,
        Ordering::Less => false,
    }
}

/// Every pair of near-duplicates of which at least one is new, with its Jaccard index.
///
/// Prefix filter: with words ordered rarest first, two sets whose overlap reaches the threshold share
/// a word among the first `n − ⌈t·n⌉ + 1` of each, so only those are looked up.
fn near_pairs(texts: &[Vec<String>], is_new: impl Fn(usize) -> bool) -> Vec<(usize, usize, f64)> {
    let mut frequency: HashMap<&str, usize> = HashMap::new();
    for text in texts {
        for word in text {
            *frequency.entry(word).or_default() += 1;
        }
    }
    let mut index: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut pairs = Vec::new();
    for (position, text) in texts.iter().enumerate() {
        let mut rarest: Vec<&str> = text.iter().map(String::as_str).collect();
        rarest.sort_by(|a, b| frequency[a].cmp(&frequency[b]).then_with(|| a.cmp(b)));
        let mut candidates = BTreeSet::new();
        for word in &rarest[..prefix(text.len())] {
            let entry = index.entry(word).or_default();
            candidates.extend(entry.iter().copied());
            entry.push(position);
        }
        for other in candidates {
            if is_new(position) || is_new(other) {
                let index = near(&texts[other], text);
                pairs.extend(index.map(|index| (other, position, index)));
            }
        }
    }
    pairs
}

/// How many of `length` words must be looked up: whole numbers, since `0.7 × length` rounds.
fn prefix(length: usize) -> usize {
    let needed = (TENTHS * length).div_ceil(10);
    (length + 1).saturating_sub(needed.max(1)).min(length)
}

/// Jaccard index of two sorted sets, if it reaches the threshold.
fn near(a: &[String], b: &[String]) -> Option<f64> {
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
    (union > 0 && shared * 10 >= union * TENTHS).then(|| share(shared, union))
}

fn content(text: &str) -> Vec<String> {
    words(text).into_iter().collect()
}

/// The content words of a request: lower case, quotes and fillers gone, numbers, versions, hashes and
/// paths made alike, Chinese and Japanese in pairs of characters.
pub(crate) fn words(text: &str) -> BTreeSet<String> {
    let lower = text
        .trim()
        .trim_matches(['"', '\'', '“', '”', '„', '`'])
        .to_lowercase();
    let mut all = BTreeSet::new();
    for token in lower.split_whitespace() {
        let bare =
            token.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '~' | '@'));
        if is_path(bare) {
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

/// A path or an address: `src/a.rs`, `~/notes`, `a/b/c`, `C:\\x`, `https://…`; not `and/or`.
fn is_path(token: &str) -> bool {
    let separators = token.matches(['/', '\\']).count();
    separators > 1
        || (separators == 1
            && token.len() > 1
            && (token.starts_with(['/', '~', '.'])
                || token.ends_with('/')
                || token
                    .rsplit(['/', '\\'])
                    .next()
                    .is_some_and(|name| name.contains('.'))))
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
            (
                "Fix the build on ~/work/app",
                "Fix the build on C:\\work\\app2",
            ),
            (
                "Check https://a.b/c?d=1 for typos",
                "check https://x.org/y for typos!",
            ),
        ];
        for (a, b) in alike {
            assert!(same(a, b), "{a} | {b}");
        }
        let different = [
            ("Explain what a mutex is", "Explain what a semaphore is"),
            ("Write a haiku about rain", "Write a limerick about snow"),
            ("今天天气怎么样", "请把这段话翻译成英文"),
            ("Explain and/or in logic", "Explain client/server in logic"),
            ("이 문장을 번역해 주세요", "오늘 날씨 어때요"),
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

    #[test]
    fn stored_names_hold_when_requests_join_that_would_have_been_smaller() {
        let first = ["write the release notes for version two now"];
        let stored = assign(&[], &first);
        let known = vec![(stored[0].clone(), first[0].to_owned())];
        // Its words sort before those of the first request.
        let later = assign(&known, &["write all release notes for version two"]);
        assert_eq!(later, stored);
    }

    #[test]
    fn a_request_between_two_stored_clusters_takes_the_nearer_one() {
        let known = vec![
            (
                "c_far".to_owned(),
                "alpha beta gamma delta epsilon zeta eta".to_owned(),
            ),
            (
                "c_near".to_owned(),
                "alpha beta gamma delta epsilon theta".to_owned(),
            ),
        ];
        // Jaccard index with the first 5/7, with the second 5/6.
        assert_eq!(
            assign(&known, &["alpha beta gamma delta epsilon"]),
            ["c_near"]
        );
    }

    #[test]
    fn many_repeats_are_one_cluster() {
        let texts: Vec<String> = (0..3_000)
            .map(|n| format!("Say hello to customer {n}"))
            .collect();
        let refs: Vec<&str> = texts.iter().map(String::as_str).collect();
        let clusters = assign(&[], &refs);
        assert!(clusters.iter().all(|cluster| *cluster == clusters[0]));
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
            texts in prop::collection::vec("[a-h]{1}( [a-h]{1}){0,9}", 1..15), first_new in 0_usize..5,
        ) {
            let sets: Vec<Vec<String>> = texts.iter().map(|text| content(text)).collect();
            let mut expected = Vec::new();
            for b in first_new.min(sets.len())..sets.len() {
                for a in 0..b {
                    expected.extend(near(&sets[a], &sets[b]).map(|index| (a, b, index)));
                }
            }
            let mut found = near_pairs(&sets, |position| position >= first_new);
            found.sort_by_key(|pair| (pair.1, pair.0));
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn stored_clusters_attract_what_equals_them(
            texts in prop::collection::vec("[abcd]{1,2}( [abcd]{1,2}){0,6}", 1..12),
            more in prop::collection::vec("[abcd]{1,2}( [abcd]{1,2}){0,6}", 0..12),
        ) {
            let refs: Vec<&str> = texts.iter().map(String::as_str).collect();
            let stored = assign(&[], &refs);
            let known: Vec<(String, String)> = stored.iter().cloned().zip(texts.iter().cloned()).collect();
            // Other requests of the night change nothing for one that is near a stored request.
            let all: Vec<&str> = texts.iter().chain(&more).map(String::as_str).collect();
            for (position, (text, cluster)) in all.iter().zip(assign(&known, &all)).enumerate() {
                let alone = assign(&known, &[text]).remove(0);
                if position < texts.len() {
                    prop_assert_eq!(&alone, &stored[position]);
                }
                prop_assert!(alone == cluster || !stored.contains(&alone), "{} left {}", text, alone);
            }
        }

        #[test]
        fn any_text_is_taken(text in "\\PC{0,80}") {
            prop_assert_eq!(assign(&[], &[&text]).len(), 1);
        }
    }
}
