//! From a subject to a call: redacted first, then rendered.

use std::collections::HashMap;

use skillopt_core::call::{BackendId, Call, Params, Side, Subject};
use skillopt_core::redact::Redactor;

use super::{Ask, Inner};
use crate::templates::schema;

/// Texts from this length on are redacted once per stage: documents repeat in every call.
const WORTH_KEEPING: usize = 512;

/// Prepares the calls of one stage.
pub(super) struct Prepare<'a> {
    inner: &'a Inner,
    target: BackendId,
    optimizer: BackendId,
    seen: HashMap<String, (String, usize)>,
    /// How many values were taken out of the stage's texts.
    pub(super) redactions: usize,
}

impl<'a> Prepare<'a> {
    pub(super) fn new(inner: &'a Inner) -> Self {
        Self {
            inner,
            target: inner.roles.target.id(),
            optimizer: inner.roles.optimizer.id(),
            seen: HashMap::new(),
            redactions: 0,
        }
    }

    pub(super) fn call(&mut self, ask: Ask) -> Call {
        let Ask {
            mut subject,
            sample,
        } = ask;
        self.redact(&mut subject);
        let backend = match subject.side() {
            Side::Target => self.target.clone(),
            Side::Optimizer => self.optimizer.clone(),
        };
        Call {
            backend,
            messages: self.inner.templates.render(&subject),
            params: Params {
                max_tokens: self.inner.options.lengths.of(subject.kind()),
                temperature: self.inner.options.temperature,
                schema: schema(&subject),
            },
            subject,
            sample,
            ask: 0,
        }
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
