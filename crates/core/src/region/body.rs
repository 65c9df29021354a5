//! What stands between the markers: rules, and lines that are not rules.

use std::collections::{HashMap, VecDeque};

use super::blocks::{Blocks, Place};
use super::{BANNER, HEADING, tidy};

/// A part of the body, with its bytes including line endings.
#[derive(Debug)]
enum Part<'d> {
    Rule {
        /// The white space before its bullet.
        indent: &'d str,
        text: String,
        bytes: &'d str,
    },
    /// One line that is not part of a rule.
    Other(&'d str),
}

/// The body of a region.
#[derive(Debug)]
pub(super) struct Body<'d> {
    parts: Vec<Part<'d>>,
}

/// What becomes of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    Replaced(usize),
    Removed,
}

impl<'d> Body<'d> {
    /// Reads a body. `blocks` are the Markdown blocks open where it begins.
    pub(super) fn read(body: &'d str, mut blocks: Blocks) -> Self {
        let lines: Vec<(&str, bool)> = body
            .split_inclusive('\n')
            .map(|line| (line, blocks.read(line, 0) == Place::Code))
            .collect();
        let mut parts = Vec::new();
        let mut at = 0;
        let mut offset = 0;
        while let Some(&(line, is_code)) = lines.get(at) {
            let bullet = if is_code { None } else { bullet(line) };
            let Some((indent, first)) = bullet else {
                parts.push(Part::Other(line));
                at += 1;
                offset += line.len();
                continue;
            };
            let end = end_of_rule(&lines, at, indent);
            let mut text = first.to_owned();
            for (line, _) in &lines[at + 1..end] {
                text.push('\n');
                text.push_str(continuation(line, indent).unwrap_or_default());
            }
            let length: usize = lines[at..end].iter().map(|(line, _)| line.len()).sum();
            parts.push(Part::Rule {
                indent,
                text: tidy(&text),
                bytes: &body[offset..offset + length],
            });
            at = end;
            offset += length;
        }
        Self { parts }
    }

    /// The body of a new region.
    pub(super) fn fresh(rules: &[String], newline: &str) -> String {
        let mut body = format!("## {HEADING}{newline}{newline}{BANNER}{newline}{newline}");
        for rule in rules {
            write_rule(&mut body, "", rule, newline);
        }
        body
    }

    /// The rules in order.
    pub(super) fn rules(&self) -> Vec<String> {
        self.texts().map(str::to_owned).collect()
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Rule { text, .. } => Some(text.as_str()),
            Part::Other(_) => None,
        })
    }

    /// Whether, rules aside, there is nothing in it but a heading and a banner of ours (or of the
    /// reference). Without the heading somebody made the region by hand.
    pub(super) fn is_only_ours(&self) -> bool {
        let others = self.parts.iter().filter_map(|part| match part {
            Part::Rule { .. } => None,
            Part::Other(line) => Some(line.trim()),
        });
        let words: Vec<&str> = others.filter(|line| !line.is_empty()).collect();
        let Some((heading, banner)) = words.split_first() else {
            return false;
        };
        // Formatters wrap the banner.
        let banner = banner.join(" ");
        let is_banner = banner.len() > 1
            && banner.starts_with(['_', '*'])
            && banner.ends_with(['_', '*'])
            && banner.contains("SkillOpt")
            && !banner[1..banner.len() - 1].contains(['_', '*']);
        heading
            .strip_prefix('#')
            .is_some_and(|rest| rest.trim_start_matches('#').trim() == HEADING)
            && (banner.is_empty() || is_banner)
    }

    /// The body with these rules: the ones it has keep their bytes and place, the others take the
    /// place of rules that went, or follow the rule before them, indented alike.
    pub(super) fn with_rules(&self, rules: &[String], newline: &str) -> String {
        let (fates, inserted) = self.plan(rules);
        let mut body = String::new();
        let write_all = |body: &mut String, indent: &str, indexes: Option<&Vec<usize>>| {
            for &index in indexes.into_iter().flatten() {
                write_rule(body, indent, &rules[index], newline);
            }
        };
        let mut rule = 0;
        for part in &self.parts {
            match part {
                Part::Other(line) => body.push_str(line),
                Part::Rule { indent, bytes, .. } => {
                    if rule == 0 {
                        write_all(&mut body, indent, inserted.get(&None));
                    }
                    match fates[rule] {
                        Fate::Kept => body.push_str(bytes),
                        Fate::Replaced(index) => {
                            write_rule(&mut body, indent, &rules[index], newline);
                        }
                        Fate::Removed => {}
                    }
                    write_all(&mut body, indent, inserted.get(&Some(rule)));
                    rule += 1;
                }
            }
        }
        if fates.is_empty() {
            write_all(&mut body, "", inserted.get(&None));
        }
        body
    }

    /// What becomes of every rule, and which new rules come after which old one (`None`: before all).
    ///
    /// New rules are matched to old ones of the same text, in order; between two matches the rest are
    /// paired by position.
    fn plan(&self, rules: &[String]) -> (Vec<Fate>, HashMap<Option<usize>, Vec<usize>>) {
        let mut places: HashMap<&str, VecDeque<usize>> = HashMap::new();
        for (place, text) in self.texts().enumerate() {
            places.entry(text).or_default().push_back(place);
        }
        let mut fates = vec![Fate::Removed; self.texts().count()];
        let mut inserted: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        let mut next_old = 0;
        let mut waiting: Vec<usize> = Vec::new();
        let mut settle =
            |fates: &mut Vec<Fate>, from: usize, to: usize, waiting: &mut Vec<usize>| {
                let paired = waiting.len().min(to - from);
                for (place, index) in (from..to).zip(waiting.drain(..paired)) {
                    fates[place] = Fate::Replaced(index);
                }
                if !waiting.is_empty() {
                    inserted
                        .entry((from + paired).checked_sub(1))
                        .or_default()
                        .append(waiting);
                }
            };
        for (index, rule) in rules.iter().enumerate() {
            let place = places.get_mut(rule.as_str()).and_then(|places| {
                while places.front().is_some_and(|&place| place < next_old) {
                    places.pop_front();
                }
                places.pop_front()
            });
            let Some(place) = place else {
                waiting.push(index);
                continue;
            };
            settle(&mut fates, next_old, place, &mut waiting);
            fates[place] = Fate::Kept;
            next_old = place + 1;
        }
        let end = fates.len();
        settle(&mut fates, next_old, end, &mut waiting);
        (fates, inserted)
    }
}

/// The index after the last line of the rule that begins at `at`: lines indented by two more than its
/// bullet, and blank lines that have such a line after them.
fn end_of_rule(lines: &[(&str, bool)], at: usize, indent: &str) -> usize {
    let mut end = at + 1;
    for (index, (line, is_code)) in lines.iter().enumerate().skip(at + 1) {
        if *is_code {
            break;
        }
        if continuation(line, indent).is_some() {
            end = index + 1;
        } else if !line.trim().is_empty() {
            break;
        }
    }
    end
}

/// The white space and the text of a line that begins a rule: `- ` after any white space (§6.5).
fn bullet(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start();
    let text = rest.strip_prefix("- ")?.trim();
    (!text.is_empty()).then_some((&line[..line.len() - rest.len()], text))
}

/// The text of a further line of a rule, without the indentation that makes it one.
fn continuation<'l>(line: &'l str, indent: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(indent)?;
    let text = rest
        .strip_prefix("  ")
        .or_else(|| rest.strip_prefix('\t'))?;
    (!text.trim().is_empty()).then(|| text.trim_end_matches(['\n', '\r']))
}

fn write_rule(body: &mut String, indent: &str, rule: &str, newline: &str) {
    for (index, line) in rule.split('\n').enumerate() {
        match (index, line) {
            (0, _) => body.extend([indent, "- "]),
            (_, "") => {}
            _ => body.extend([indent, "  "]),
        }
        body.push_str(line);
        body.push_str(newline);
    }
}
