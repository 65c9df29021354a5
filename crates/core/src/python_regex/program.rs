//! A parsed pattern as instructions for the backtracking engine.

use super::charset::Charset;
use super::tree::{Greed, Node, Position};

/// Which letters are equal to a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    /// Only the same ones.
    Exact,
    /// Those with the same lower case.
    Ignored,
    /// Those with the same lower case, among ASCII letters.
    AsciiIgnored,
}

/// One instruction. `usize` operands are places in the program (`next`, …) or slots.
#[derive(Debug, Clone)]
pub(super) enum Instruction {
    /// Take one character of the set.
    Take(Charset),
    /// Take as many characters of the set as possible within the bounds; give back one by one if
    /// `gives_back`.
    TakeMany {
        set: Charset,
        min: u32,
        max: u32,
        gives_back: bool,
    },
    /// Go on only in this position.
    Require(Position),
    /// Try `first`, then `second`.
    Split { first: usize, second: usize },
    /// Go on there.
    Jump(usize),
    /// Remember the position.
    SavePosition(usize),
    /// Go to a remembered position.
    ReturnTo(usize),
    /// Go back so many characters, or fail.
    Back(u64),
    /// Take what the group matched, again.
    Reference { group: usize, case: Case },
    /// Go on if the group matched, otherwise go there.
    IfMatched { group: usize, otherwise: usize },
    /// Start a loop: no rounds so far.
    LoopStart(Loop),
    /// Decide on the next round: the body follows, `exit` comes after the loop.
    Loop { of: Loop, lazy: bool, exit: usize },
    /// What a lazy loop does when going on after it failed: one more round.
    OneMore(Loop),
    /// Remember how many ways back there are.
    Mark(usize),
    /// Forget the ways back since the mark.
    Cut(usize),
    /// Remember how many ways back there are, and add one to `otherwise`.
    MarkWithWayOut { mark: usize, otherwise: usize },
    /// Undo everything since the mark, the way out included, and fail.
    FailTo(usize),
    /// The pattern is found.
    Found,
}

/// A loop: its bounds and the slots of its state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loop {
    /// At least so many rounds.
    pub(super) min: u32,
    /// At most so many rounds; `u32::MAX` has no bound.
    pub(super) max: u32,
    /// Slot of the number of rounds.
    pub(super) rounds: usize,
    /// Slot of the position where the last optional round began.
    pub(super) began: usize,
}

/// A program for the backtracking engine.
#[derive(Debug, Clone)]
pub(super) struct Program {
    /// Starts at 0 and ends with `Found`.
    pub(super) instructions: Vec<Instruction>,
    /// How many slots it needs. Group `n` has the slots `2n` and `2n + 1`.
    pub(super) slots: usize,
}

/// The program of a pattern with so many groups.
pub(super) fn compile(node: &Node, groups: usize) -> Program {
    let mut writer = Writer {
        out: Vec::new(),
        slots: 2 * (groups + 1),
    };
    writer.node(node);
    writer.out.push(Instruction::Found);
    Program {
        instructions: writer.out,
        slots: writer.slots,
    }
}

struct Writer {
    out: Vec<Instruction>,
    slots: usize,
}

impl Writer {
    fn slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    fn here(&self) -> usize {
        self.out.len()
    }

    /// Leaves room for an instruction whose operand is not known yet.
    fn reserve(&mut self) -> usize {
        self.out.push(Instruction::Found);
        self.here() - 1
    }

    fn node(&mut self, node: &Node) {
        if let Some(set) = charset(node) {
            return self.out.push(Instruction::Take(set));
        }
        match node {
            // Both are sets of characters.
            Node::Set(_) | Node::Any { .. } => {}
            Node::Sequence(parts) => {
                for part in parts {
                    self.node(part);
                }
            }
            Node::Alternatives(branches) => self.alternatives(branches),
            Node::Capture { group, body } => {
                self.out.push(Instruction::SavePosition(2 * group));
                self.node(body);
                self.out.push(Instruction::SavePosition(2 * group + 1));
            }
            Node::Repeat {
                body,
                min,
                max,
                greed,
            } => {
                self.repeat(body, *min, max.unwrap_or(u32::MAX), *greed);
            }
            Node::Position(position) => self.out.push(Instruction::Require(*position)),
            Node::Look {
                behind,
                negated,
                body,
            } => self.look(*behind, *negated, body),
            Node::Atomic(body) => self.atomic(body),
            Node::Reference { group, case } => {
                self.out.push(Instruction::Reference {
                    group: *group,
                    case: *case,
                });
            }
            Node::Conditional { group, yes, no } => {
                let decide = self.reserve();
                self.node(yes);
                let leave = self.reserve();
                self.out[decide] = Instruction::IfMatched {
                    group: *group,
                    otherwise: self.here(),
                };
                if let Some(no) = no {
                    self.node(no);
                }
                self.out[leave] = Instruction::Jump(self.here());
            }
        }
    }

    fn alternatives(&mut self, branches: &[Node]) {
        let mut leaves = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            if index + 1 == branches.len() {
                self.node(branch);
                break;
            }
            let split = self.reserve();
            self.node(branch);
            leaves.push(self.reserve());
            self.out[split] = Instruction::Split {
                first: split + 1,
                second: self.here(),
            };
        }
        for leave in leaves {
            self.out[leave] = Instruction::Jump(self.here());
        }
    }

    fn repeat(&mut self, body: &Node, min: u32, max: u32, greed: Greed) {
        if let Some(set) = charset(body)
            && greed != Greed::Lazy
        {
            let gives_back = greed == Greed::Greedy;
            return self.out.push(Instruction::TakeMany {
                set,
                min,
                max,
                gives_back,
            });
        }
        let outer = (greed == Greed::Possessive).then(|| self.slot());
        self.out.extend(outer.map(Instruction::Mark));
        let of = Loop {
            min,
            max,
            rounds: self.slot(),
            began: self.slot(),
        };
        let lazy = greed == Greed::Lazy;
        self.out.push(Instruction::LoopStart(of));
        let decide = self.reserve();
        if lazy {
            self.out.push(Instruction::OneMore(of));
        }
        // A possessive repeat gives back neither rounds nor what a round matched.
        if greed == Greed::Possessive {
            self.atomic(body);
        } else {
            self.node(body);
        }
        self.out.push(Instruction::Jump(decide));
        self.out[decide] = Instruction::Loop {
            of,
            lazy,
            exit: self.here(),
        };
        self.out.extend(outer.map(Instruction::Cut));
    }

    fn atomic(&mut self, body: &Node) {
        let mark = self.slot();
        self.out.push(Instruction::Mark(mark));
        self.node(body);
        self.out.push(Instruction::Cut(mark));
    }

    fn look(&mut self, behind: Option<u64>, negated: bool, body: &Node) {
        let mark = self.slot();
        if negated {
            let start = self.reserve();
            self.out.extend(behind.map(Instruction::Back));
            self.node(body);
            self.out.push(Instruction::FailTo(mark));
            self.out[start] = Instruction::MarkWithWayOut {
                mark,
                otherwise: self.here(),
            };
        } else {
            let position = self.slot();
            self.out.push(Instruction::SavePosition(position));
            self.out.push(Instruction::Mark(mark));
            self.out.extend(behind.map(Instruction::Back));
            self.node(body);
            self.out.push(Instruction::Cut(mark));
            self.out.push(Instruction::ReturnTo(position));
        }
    }
}

/// The characters a part takes one of, if that is all it does.
fn charset(node: &Node) -> Option<Charset> {
    match node {
        Node::Set(set) => Some(Charset::new(set)),
        Node::Any { newline } => Some(Charset::any(*newline)),
        Node::Sequence(parts) => match parts.as_slice() {
            [only] => charset(only),
            _ => None,
        },
        _ => None,
    }
}
