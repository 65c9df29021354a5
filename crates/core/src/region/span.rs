//! Where the region is.

use super::blocks::{Blocks, Place};
use super::body::Body;
use super::{BYTE_ORDER_MARK, END, RegionFault, START};

/// The region of a document, as byte offsets of line beginnings.
#[derive(Debug, Clone)]
pub(super) struct Span {
    /// Beginning of the start marker's line.
    pub(super) start: usize,
    /// End of the start marker's line, after its line ending.
    pub(super) body_start: usize,
    /// Beginning of the end marker's line.
    pub(super) body_end: usize,
    /// End of the end marker's line, after its line ending if it has one.
    pub(super) end: usize,
    /// The blocks that are open where the body begins.
    blocks: Blocks,
}

impl Span {
    /// What stands between the markers.
    pub(super) fn body<'d>(&self, document: &'d str) -> Body<'d> {
        Body::read(
            &document[self.body_start..self.body_end],
            self.blocks.clone(),
        )
    }

    /// The line ending of the start marker.
    pub(super) fn newline(&self, document: &str) -> &'static str {
        if document[..self.body_start].ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }
}

/// What was found in a document.
#[derive(Debug)]
pub(super) struct Found {
    /// Its region.
    pub(super) region: Option<Span>,
    /// Where the code fence begins in which the document ends, when it is never closed.
    pub(super) open_fence: Option<usize>,
}

/// Finds the region. Linear in the length of the document.
pub(super) fn find(document: &str) -> Result<Found, RegionFault> {
    let mut blocks = Blocks::default();
    let mut open: Option<(usize, Span)> = None;
    let mut region = None;
    let mut at = document.len() - document.trim_start_matches(BYTE_ORDER_MARK).len();
    for (index, line) in document[at..].split_inclusive('\n').enumerate() {
        let (start, line_number) = (at, index + 1);
        at += line.len();
        if blocks.read(line, start) != Place::Text {
            continue;
        }
        match marker(line) {
            Some(START) if open.is_some() => return Err(RegionFault::Nested { line: line_number }),
            Some(START) if region.is_some() => return Err(RegionFault::Several),
            Some(START) => {
                let blocks = blocks.clone();
                open = Some((
                    line_number,
                    Span {
                        start,
                        body_start: at,
                        body_end: at,
                        end: at,
                        blocks,
                    },
                ));
            }
            Some(_) => match open.take() {
                Some((_, span)) => {
                    region = Some(Span {
                        body_end: start,
                        end: at,
                        ..span
                    });
                }
                None => return Err(RegionFault::StrayEnd { line: line_number }),
            },
            None => {}
        }
    }
    match open {
        Some((line, _)) => Err(RegionFault::Unterminated { line }),
        None => Ok(Found {
            region,
            open_fence: blocks.open_fence(),
        }),
    }
}

/// The marker a line consists of, when it is indented by at most three spaces.
fn marker(line: &str) -> Option<&'static str> {
    let rest = line.trim_start_matches(' ');
    match rest.trim_end() {
        _ if line.len() - rest.len() > 3 => None,
        START => Some(START),
        END => Some(END),
        _ => None,
    }
}
