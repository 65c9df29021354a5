//! What the agent says, and which of it is its answer.

use skillopt_core::Instant;

use super::{RAW_ANSWER_LIMIT, Recorder, TEXT_LIMIT};
use crate::names::short;
use crate::reading::Answer;
use crate::reason::Reason;
use crate::rules::Kept;

impl Recorder<'_> {
    /// Words of the agent; the last ones before the next prompt are its answer. A second form of
    /// the same message is left out.
    pub(crate) fn reply(&mut self, id: &str, at: Option<Instant>, raw: &str) {
        self.time(at);
        self.reading.spoken = true;
        match self.said(id) {
            Some(_) => self.skip(Reason::OtherForm),
            None => self.say(id, at, raw),
        }
    }

    /// Like [`reply`](Self::reply), for agents that write one record for each block of a message.
    pub(crate) fn reply_block(&mut self, id: &str, at: Option<Instant>, raw: &str) {
        self.time(at);
        self.reading.spoken = true;
        match self.said(id) {
            Some(answer) => {
                let repeated = answer.text.ends_with(raw);
                if !repeated && answer.text.len() < RAW_ANSWER_LIMIT {
                    answer.text.push('\n');
                    answer.text.push_str(raw);
                }
            }
            None => self.say(id, at, raw),
        }
    }

    /// The answer so far, if it is the message with this id.
    fn said(&mut self, id: &str) -> Option<&mut Answer> {
        let id = short(id);
        if id.is_empty() {
            return None;
        }
        if self.raw_answer.is_none() {
            // A file that is gone on with: the message may have been cut in the middle.
            let kept = self
                .open_exchange()
                .and_then(|exchange| exchange.answer.as_ref());
            self.raw_answer = kept.filter(|answer| answer.id == id).cloned();
        }
        self.raw_answer.as_mut().filter(|answer| answer.id == id)
    }

    fn say(&mut self, id: &str, at: Option<Instant>, raw: &str) {
        let place = self.reading.place;
        let answers = self
            .open_exchange()
            .is_some_and(|exchange| exchange.prompt.is_some());
        if answers && !raw.trim().is_empty() {
            self.answer_before = self.raw_answer.replace(Answer {
                id: short(id).to_owned(),
                at,
                place,
                text: raw.to_owned(),
            });
        }
    }

    /// What the agent said last was meant for nobody; the message before it may be the answer.
    pub(crate) fn no_answer(&mut self) {
        self.raw_answer = self.answer_before.take();
    }

    /// Makes the answer so far fit to be kept.
    pub(super) fn seal(&mut self) {
        self.answer_before = None;
        let Some(mut answer) = self.raw_answer.take() else {
            return;
        };
        let Kept::Words(text) = self.keep_answer(&answer.text) else {
            return;
        };
        let Some(exchange) = self.reading.exchanges.last_mut() else {
            return;
        };
        answer.text = text;
        let size = |answer: &Answer| answer.text.len() + answer.id.len();
        let before = exchange.answer.as_ref().map_or(0, size);
        let bytes = self.reading.text_bytes - before + size(&answer);
        if bytes > TEXT_LIMIT {
            return self.skip(Reason::BeyondLimit);
        }
        exchange.answer = Some(answer);
        self.reading.text_bytes = bytes;
    }
}
