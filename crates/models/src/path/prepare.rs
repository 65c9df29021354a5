//! From a subject to a call: redacted first, then rendered.

use std::collections::HashMap;

use skillopt_core::call::{BackendId, Call, Message, Params, Side, Subject};
use skillopt_core::redact::Redactor;
use skillopt_core::tool;

use super::{Ask, Inner, PerSide, fit};
use crate::templates::schema;

/// Texts from this length on are redacted once per stage: documents repeat in every call.
const WORTH_KEEPING: usize = 512;

/// Prepares the calls of one stage.
pub(super) struct Prepare<'a> {
    inner: &'a Inner,
    backends: PerSide<BackendId>,
    seen: HashMap<String, (String, usize)>,
    /// How many values were taken out of the stage's texts.
    pub(super) redactions: usize,
    /// How many calls were cut to fit their model, and how many bytes went.
    pub(super) cut: (usize, u64),
}

impl<'a> Prepare<'a> {
    pub(super) fn new(inner: &'a Inner) -> Self {
        Self {
            inner,
            backends: PerSide::of(|side| inner.roles.of(side).id()),
            seen: HashMap::new(),
            redactions: 0,
            cut: (0, 0),
        }
    }

    pub(super) fn call(&mut self, ask: Ask) -> Call {
        let Ask {
            mut subject,
            sample,
        } = ask;
        let side = subject.side();
        self.offer(&mut subject, side);
        self.redact(&mut subject);
        let manner = self.inner.options.sides.get(side);
        let params = Params {
            max_tokens: manner.lengths.of(subject.kind()),
            temperature: manner.temperature,
            schema: schema(&subject),
        };
        Call {
            backend: self.backends.get(side).clone(),
            messages: self.fitting(&mut subject, side, &params),
            params,
            subject,
            sample,
            ask: 0,
            rounds: Vec::new(),
        }
    }

    /// Leaves an attempt the tools it offers.
    fn offer(&self, subject: &mut Subject, side: Side) {
        if let Subject::Attempt { task, .. } = subject {
            let offered = self.inner.options.tools && self.inner.roles.of(side).takes_tools();
            task.tools = if offered {
                tool::of_task(task)
            } else {
                Vec::new()
            };
        }
    }

    /// The messages that put `subject`, cut if they are too long for the model that is asked.
    fn fitting(&mut self, subject: &mut Subject, side: Side, params: &Params) -> Vec<Message> {
        let messages = self.inner.templates.render(subject);
        let Some(window) = self.inner.window(side) else {
            return messages;
        };
        let schema = params
            .schema
            .as_ref()
            .map_or(0, |schema| schema.to_string().len() as u64);
        let overhead = self.inner.roles.of(side).overhead_tokens() + schema;
        let room = fit::room(window, u64::from(params.max_tokens), overhead);
        let excess = fit::size(&messages).saturating_sub(room);
        if excess == 0 {
            return messages;
        }
        let gone = fit::cut(subject, excess);
        if gone == 0 {
            return messages;
        }
        self.cut.0 += 1;
        self.cut.1 += gone;
        self.inner.templates.render(subject)
    }

    /// Every text of a subject that goes into a prompt or a row.
    fn redact(&mut self, subject: &mut Subject) {
        match subject {
            Subject::Mine {
                project,
                session: _,
                prompts,
                last_reply,
                feedback,
            } => {
                self.each([project, last_reply]);
                self.each(prompts);
                self.each(feedback);
            }
            Subject::Attempt {
                task,
                skill,
                memory,
            } => {
                self.each([
                    skill,
                    memory,
                    &mut task.intent,
                    &mut task.context,
                    &mut task.system,
                ]);
                self.each([&mut task.attempted_solution, &mut task.project]);
                self.each(&mut task.tags);
                for tool in &mut task.tools {
                    self.each([&mut tool.description, &mut tool.result]);
                }
            }
            Subject::Judge {
                intent,
                rubric,
                response,
            } => self.each([intent, rubric, response]),
            Subject::Reflect {
                target: _,
                document,
                other_document,
                edit_budget: _,
                failures,
                contrasts,
                criteria,
                guard,
                preferences,
                rejected,
            } => {
                self.each([document, other_document, guard, preferences]);
                for failure in failures {
                    self.each([
                        &mut failure.intent,
                        &mut failure.response,
                        &mut failure.reason,
                    ]);
                }
                for pair in contrasts {
                    self.each([
                        &mut pair.intent,
                        &mut pair.better,
                        &mut pair.worse,
                        &mut pair.reason,
                    ]);
                }
                self.each(criteria);
                self.each(rejected);
            }
        }
    }

    fn each<'t>(&mut self, texts: impl IntoIterator<Item = &'t mut String>) {
        for text in texts {
            self.redactions += self.one(text);
        }
    }

    fn one(&mut self, text: &mut String) -> usize {
        if text.len() < WORTH_KEEPING {
            return replace(&self.inner.redactor, text);
        }
        if let Some((redacted, count)) = self.seen.get(text.as_str()) {
            if *count > 0 {
                text.clone_from(redacted);
            }
            return *count;
        }
        let original = text.clone();
        let count = replace(&self.inner.redactor, text);
        // What was clean is only remembered as such.
        let kept = if count > 0 {
            text.clone()
        } else {
            String::new()
        };
        self.seen.insert(original, (kept, count));
        count
    }
}

fn replace(redactor: &Redactor, text: &mut String) -> usize {
    let redacted = redactor.redact(text);
    let count = redacted.count;
    if count > 0 {
        *text = redacted.text.into_owned();
    }
    count
}
