//! The backtracking engine: searches as Python's does, and stops after a bounded number of steps.

use super::charset::is_word;
use super::program::{Case, Instruction, Loop, Program};
use super::tree::Position;

/// Bound of one search, in instructions, characters and undone changes: some tens of milliseconds.
const MAX_STEPS: usize = 1_000_000;

/// Bound of the ways back kept at a time: 16 MB.
const MAX_WAYS: usize = 500_000;

/// The search was stopped.
#[derive(Debug)]
pub(super) struct OutOfSteps;

const UNSET: usize = usize::MAX;

/// Whether the program finds its pattern somewhere in `text`.
pub(super) fn search(program: &Program, text: &str) -> Result<bool, OutOfSteps> {
    let text: Vec<char> = text.chars().collect();
    let mut run = Run {
        program: &program.instructions,
        text: &text,
        at: 0,
        slots: vec![UNSET; program.slots],
        ways: Vec::new(),
        steps: 0,
    };
    for start in 0..=text.len() {
        run.slots.fill(UNSET);
        run.ways.clear();
        run.at = start;
        if run.matches()? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An entry of the stack of what to do when going on fails.
enum Way {
    /// Go on there instead.
    Branch { next: usize, at: usize },
    /// Give back one character, down to `least`, and go on there.
    GiveBack {
        next: usize,
        least: usize,
        at: usize,
    },
    /// Put a slot back, and look further down.
    Restore { slot: usize, value: usize },
}

struct Run<'a> {
    program: &'a [Instruction],
    text: &'a [char],
    at: usize,
    slots: Vec<usize>,
    ways: Vec<Way>,
    steps: usize,
}

impl Run<'_> {
    /// Runs the program from `self.at`.
    fn matches(&mut self) -> Result<bool, OutOfSteps> {
        let mut next = Some(0);
        loop {
            self.spend(1)?;
            let place = match next {
                Some(place) => place,
                None => match self.way_back()? {
                    Some(place) => place,
                    None => return Ok(false),
                },
            };
            if matches!(self.program[place], Instruction::Found) {
                return Ok(true);
            }
            next = self.step(place)?;
        }
    }

    fn spend(&mut self, steps: usize) -> Result<(), OutOfSteps> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS {
            Err(OutOfSteps)
        } else {
            Ok(())
        }
    }

    fn push(&mut self, way: Way) -> Result<(), OutOfSteps> {
        if self.ways.len() >= MAX_WAYS {
            return Err(OutOfSteps);
        }
        self.ways.push(way);
        Ok(())
    }

    fn set(&mut self, slot: usize, value: usize) -> Result<(), OutOfSteps> {
        let old = std::mem::replace(&mut self.slots[slot], value);
        self.push(Way::Restore { slot, value: old })
    }

    /// Undoes changes up to the last way back and takes it.
    fn way_back(&mut self) -> Result<Option<usize>, OutOfSteps> {
        while let Some(way) = self.ways.pop() {
            match way {
                Way::Restore { slot, value } => self.slots[slot] = value,
                Way::Branch { next, at } => {
                    self.at = at;
                    return Ok(Some(next));
                }
                Way::GiveBack { next, least, at } => {
                    self.at = at - 1;
                    if self.at > least {
                        self.ways.push(Way::GiveBack {
                            next,
                            least,
                            at: self.at,
                        });
                    }
                    return Ok(Some(next));
                }
            }
            self.spend(1)?;
        }
        Ok(None)
    }

    /// Carries out one instruction; gives the place of the next, or `None` when it fails.
    fn step(&mut self, place: usize) -> Result<Option<usize>, OutOfSteps> {
        let program = self.program;
        let on = Some(place + 1);
        Ok(match &program[place] {
            Instruction::Found => None,
            Instruction::Take(set) => match self.text.get(self.at) {
                Some(c) if set.contains(*c) => {
                    self.at += 1;
                    on
                }
                _ => None,
            },
            Instruction::TakeMany {
                set,
                min,
                max,
                gives_back,
            } => {
                let limit = usize::try_from(*max).unwrap_or(usize::MAX);
                let rest = self.text[self.at..].iter().take(limit);
                let taken = rest.take_while(|c| set.contains(**c)).count();
                self.spend(taken)?;
                let least = usize::try_from(*min).unwrap_or(usize::MAX);
                if taken < least {
                    return Ok(None);
                }
                let least = self.at + least;
                self.at += taken;
                if *gives_back && self.at > least {
                    self.push(Way::GiveBack {
                        next: place + 1,
                        least,
                        at: self.at,
                    })?;
                }
                on
            }
            Instruction::Require(position) => self.is_at(*position).then_some(place + 1),
            Instruction::Split { first, second } => {
                self.push(Way::Branch {
                    next: *second,
                    at: self.at,
                })?;
                Some(*first)
            }
            Instruction::Jump(there) => Some(*there),
            Instruction::SavePosition(slot) => {
                self.set(*slot, self.at)?;
                on
            }
            Instruction::ReturnTo(slot) => {
                self.at = self.slots[*slot];
                on
            }
            Instruction::Back(width) => {
                let width = usize::try_from(*width).unwrap_or(usize::MAX);
                match self.at.checked_sub(width) {
                    Some(at) => {
                        self.at = at;
                        on
                    }
                    None => None,
                }
            }
            Instruction::Reference { group, case } => {
                if self.takes_again(*group, *case)? {
                    on
                } else {
                    None
                }
            }
            Instruction::IfMatched { group, otherwise } => {
                if self.group(*group).is_some() {
                    on
                } else {
                    Some(*otherwise)
                }
            }
            Instruction::LoopStart(of) => {
                self.set(of.rounds, 0)?;
                self.set(of.began, UNSET)?;
                on
            }
            Instruction::Loop { of, lazy, exit } => {
                let body = place + 1 + usize::from(*lazy);
                if self.slots[of.rounds] < as_usize(of.min) {
                    self.set(of.rounds, self.slots[of.rounds] + 1)?;
                    Some(body)
                } else if *lazy {
                    self.push(Way::Branch {
                        next: place + 1,
                        at: self.at,
                    })?;
                    Some(*exit)
                } else if self.may_go_round(*of) {
                    self.push(Way::Branch {
                        next: *exit,
                        at: self.at,
                    })?;
                    self.go_round(*of)?;
                    Some(body)
                } else {
                    Some(*exit)
                }
            }
            Instruction::OneMore(of) => {
                if self.may_go_round(*of) {
                    self.go_round(*of)?;
                    on
                } else {
                    None
                }
            }
            Instruction::Mark(slot) => {
                self.mark(*slot)?;
                on
            }
            Instruction::Cut(slot) => {
                self.cut(self.slots[*slot])?;
                on
            }
            Instruction::MarkWithWayOut { mark, otherwise } => {
                self.mark(*mark)?;
                self.push(Way::Branch {
                    next: *otherwise,
                    at: self.at,
                })?;
                on
            }
            Instruction::FailTo(mark) => {
                let height = self.slots[*mark];
                self.spend(self.ways.len().saturating_sub(height))?;
                for way in self.ways.drain(height..).rev() {
                    if let Way::Restore { slot, value } = way {
                        self.slots[slot] = value;
                    }
                }
                None
            }
        })
    }

    fn mark(&mut self, slot: usize) -> Result<(), OutOfSteps> {
        self.set(slot, 0)?;
        self.slots[slot] = self.ways.len();
        Ok(())
    }

    /// Forgets the ways back above `height`, but not what they would have to undo.
    fn cut(&mut self, height: usize) -> Result<(), OutOfSteps> {
        self.spend(self.ways.len().saturating_sub(height))?;
        let mut kept = height;
        for index in height..self.ways.len() {
            if matches!(self.ways[index], Way::Restore { .. }) {
                self.ways.swap(kept, index);
                kept += 1;
            }
        }
        self.ways.truncate(kept);
        Ok(())
    }

    /// Another optional round is allowed: within the bound, and the last one got somewhere.
    fn may_go_round(&self, of: Loop) -> bool {
        let bounded = of.max == u32::MAX || self.slots[of.rounds] < as_usize(of.max);
        bounded && self.slots[of.began] != self.at
    }

    fn go_round(&mut self, of: Loop) -> Result<(), OutOfSteps> {
        self.set(of.rounds, self.slots[of.rounds].saturating_add(1))?;
        self.set(of.began, self.at)
    }

    /// Where a group matched. A group that is open again since it matched counts only if it did
    /// not move on, which is what Python does.
    fn group(&self, group: usize) -> Option<(usize, usize)> {
        let (start, end) = (self.slots[2 * group], self.slots[2 * group + 1]);
        (start != UNSET && end != UNSET && start <= end).then_some((start, end))
    }

    fn takes_again(&mut self, group: usize, case: Case) -> Result<bool, OutOfSteps> {
        let Some((start, end)) = self.group(group) else {
            return Ok(false);
        };
        let length = end - start;
        self.spend(length)?;
        let Some(here) = self.text.get(self.at..self.at + length) else {
            return Ok(false);
        };
        let equal = self.text[start..end]
            .iter()
            .zip(here)
            .all(|(a, b)| match case {
                Case::Exact => a == b,
                Case::Ignored => simple_lower(*a) == simple_lower(*b),
                Case::AsciiIgnored => a.eq_ignore_ascii_case(b),
            });
        self.at += if equal { length } else { 0 };
        Ok(equal)
    }

    fn is_at(&self, position: Position) -> bool {
        let before = self.at.checked_sub(1).map(|before| self.text[before]);
        let after = self.text.get(self.at).copied();
        match position {
            Position::TextStart => before.is_none(),
            Position::TextEnd => after.is_none(),
            Position::TextEndOrLastNewline => {
                after.is_none() || (after == Some('\n') && self.at + 1 == self.text.len())
            }
            Position::LineStart => before.is_none_or(|c| c == '\n'),
            Position::LineEnd => after.is_none_or(|c| c == '\n'),
            // Python finds neither `\b` nor `\B` in the empty text.
            Position::WordBoundary { .. } if self.text.is_empty() => false,
            Position::WordBoundary { ascii, negated } => {
                let word = |c: Option<char>| c.is_some_and(|c| is_word(c, ascii));
                (word(before) != word(after)) != negated
            }
        }
    }
}

fn as_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Lower case by the one-to-one mapping: the first character of the full one.
fn simple_lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}
