//! Building a [`Reading`], within its limits.

mod answers;
mod commits;
mod happenings;
mod keys;

use std::collections::{BTreeMap, HashMap, HashSet};

use skillopt_core::Instant;
use skillopt_core::agent::Agent;

use super::{Answer, Exchange, Others, Place, Prompt, Reading};
use crate::lenient::Number;
use crate::names::{clean, hash, is_absolute, short, tool_name};
use crate::own_calls::{self, Evidence};
use crate::reason::Reason;
use crate::rules::{ANSWER_LIMIT, HUMAN_LIMIT, Kept, Rules};
use crate::session::Author;

/// Most bytes of words, names and ids kept of one file.
const TEXT_LIMIT: usize = 8 * 1024 * 1024;
/// Most exchanges kept of one file.
const EXCHANGE_LIMIT: usize = 20_000;
/// Most names (tools, files, skills) kept of one exchange.
const NAME_LIMIT: usize = 200;
/// Most different places kept of one file.
const PLACE_LIMIT: usize = 256;
/// Stands for a place beyond that; nothing typed there is kept.
const BEYOND: u32 = u32::MAX;
/// Most bytes of one answer that is put together from several records.
const RAW_ANSWER_LIMIT: usize = 1024 * 1024;
/// Most different unknown record types counted by name per file.
const UNKNOWN_LIMIT: usize = 32;

/// Builds a [`Reading`].
#[derive(Debug)]
pub(crate) struct Recorder<'r> {
    agent: Agent,
    rules: &'r Rules,
    reading: Reading,
    /// The open exchange's answer so far, as it stands in the file.
    raw_answer: Option<Answer>,
    /// The one it took the place of.
    answer_before: Option<Answer>,
    known: HashSet<u64>,
    /// What the next prompt follows; 0 when that is not known.
    after: u64,
    /// The last prompt that follows a message, by the message's hash.
    following: HashMap<u64, usize>,
}

impl<'r> Recorder<'r> {
    /// Starts a file, or goes on with what was kept of its beginning.
    pub(crate) fn new(agent: Agent, rules: &'r Rules, reading: Reading) -> Self {
        let known = reading
            .exchanges
            .iter()
            .map(|exchange| exchange.key)
            .collect();
        let following = reading
            .exchanges
            .iter()
            .enumerate()
            .filter(|(_, exchange)| exchange.after != 0)
            .map(|(at, exchange)| (exchange.after, at))
            .collect();
        Self {
            agent,
            rules,
            reading,
            raw_answer: None,
            answer_before: None,
            known,
            after: 0,
            following,
        }
    }

    /// Leaves a record out. Whoever wrote it had a turn in the exchange at hand.
    pub(crate) fn skip(&mut self, reason: Reason) {
        self.leave_out(reason);
        if let Some(author) = reason.author() {
            self.beside(author);
        }
    }

    /// Counts a record under its reason and under nothing else.
    pub(crate) fn leave_out(&mut self, reason: Reason) {
        self.reading.counts.add(reason);
    }

    /// A turn of somebody else than the person and the agent.
    pub(crate) fn beside(&mut self, author: Author) {
        let reading = &mut self.reading;
        match reading.exchanges.last_mut().filter(|_| reading.open) {
            Some(exchange) => exchange.others.add(author),
            None if reading.lost => {}
            None => reading.before.add(author),
        }
    }

    /// Counts a record type nobody knows, by its name and the version that wrote it.
    pub(crate) fn unknown(&mut self, name: &str) {
        self.skip(Reason::UnknownType);
        let unknown = &mut self.reading.counts.unknown;
        let different: usize = unknown.values().map(BTreeMap::len).sum();
        let name = clean(name);
        let names = unknown.entry(self.reading.version.clone()).or_default();
        if different < UNKNOWN_LIMIT || names.contains_key(&name) {
            *names.entry(name).or_default() += 1;
        }
    }

    /// The version of the log's format, where an agent names that and not its own.
    pub(crate) fn format(&mut self, number: Number) {
        if let Some(number) = number.0 {
            self.version(&format!("format-{number}"));
        }
    }

    /// The version of the agent that wrote this record and those after it.
    pub(crate) fn version(&mut self, version: &str) {
        if version.is_empty() || version == self.reading.version {
            return;
        }
        self.reading.version = clean(version);
        // What came before the first record that says so.
        if let Some(names) = self.reading.counts.unknown.remove("") {
            self.reading
                .counts
                .unknown
                .insert(self.reading.version.clone(), names);
        }
    }

    pub(crate) fn session(&mut self, id: &str) {
        if self.reading.session.is_empty() {
            self.reading.session = short(id).to_owned();
        }
    }

    pub(crate) fn forked_from(&mut self, parent: &str) {
        if self.reading.parent.is_none() && !parent.is_empty() && parent != self.reading.session {
            self.reading.parent = Some(short(parent).to_owned());
        }
    }

    /// What is read here counts only where the session was found nowhere else.
    pub(crate) fn is_fallback(&mut self) {
        self.reading.fallback = true;
    }

    /// A record that another session made stands in this file.
    pub(crate) fn holds_copies(&mut self) {
        self.reading.copied = true;
    }

    pub(crate) fn entrypoint(&mut self, entrypoint: &str, headless: bool) {
        if self.reading.entrypoint.is_empty() {
            self.reading.entrypoint = short(entrypoint).to_owned();
            self.reading.headless = headless;
        }
    }

    /// No person made this session, says the agent itself.
    pub(crate) fn condemn(&mut self, reason: Reason) {
        self.reading.verdict = Some(reason);
    }

    /// Whether the first record's time is still wanted.
    pub(crate) fn wants_first_time(&self) -> bool {
        self.reading.written.is_none()
    }

    /// A record's time.
    pub(crate) fn time(&mut self, at: Option<Instant>) {
        let Some(at) = at else { return };
        let reading = &mut self.reading;
        reading.written.get_or_insert(at);
        reading.first_at = Some(reading.first_at.map_or(at, |first| first.min(at)));
        reading.last_at = reading.last_at.max(Some(at));
    }

    /// Where the session is from now on. Empty values leave what was known.
    pub(crate) fn place(&mut self, directory: &str, branch: &str) {
        // Claude Code writes the word HEAD for branches whose name it cannot show.
        let branch = if branch == "HEAD" { "" } else { branch };
        let here = self.reading.places.get(self.reading.place as usize);
        if let Some(here) = here
            && (directory.is_empty() || here.directory == directory)
            && (here.branch == branch || (directory.is_empty() && branch.is_empty()))
        {
            return;
        }
        let place = match (directory, here) {
            ("", Some(here)) if here.excluded => return,
            (directory, _) if self.rules.exclude.covers(directory) => Place {
                excluded: true,
                ..Place::default()
            },
            (directory, here) => Place {
                directory: match (directory, here) {
                    ("", Some(here)) => here.directory.clone(),
                    _ => short(directory).to_owned(),
                },
                branch: short(branch).to_owned(),
                excluded: false,
            },
        };
        let places = &mut self.reading.places;
        let index = match places.iter().position(|known| *known == place) {
            Some(known) => u32::try_from(known).unwrap_or(BEYOND),
            None if places.len() < PLACE_LIMIT => {
                places.push(place);
                u32::try_from(places.len() - 1).unwrap_or(BEYOND)
            }
            None => BEYOND,
        };
        self.reading.place = index;
    }

    /// The next prompt follows the message with this id. A second prompt in the same place takes
    /// back the first one and all that came of it.
    pub(crate) fn follows(&mut self, id: &str) {
        self.after = if id.is_empty() {
            0
        } else {
            hash(&[id.as_bytes()])
        };
    }

    /// A person's words.
    pub(crate) fn human(&mut self, id: &str, at: Option<Instant>, raw: &str) {
        self.kept(id, at, self.keep(raw));
    }

    /// A person's words as they may be kept.
    pub(crate) fn keep(&self, raw: &str) -> Kept {
        self.rules.keep(raw, HUMAN_LIMIT)
    }

    /// The agent's words as they may be kept.
    pub(crate) fn keep_answer(&self, raw: &str) -> Kept {
        self.rules.keep(raw, ANSWER_LIMIT)
    }

    /// A person's words as [`Self::keep`] returned them.
    pub(crate) fn kept(&mut self, id: &str, at: Option<Instant>, kept: Kept) {
        match kept {
            Kept::Words(text) => self.human_words(id, at, text),
            Kept::Private => self.no_words(Reason::Private),
            Kept::Wordless => self.no_words(Reason::Wordless),
        }
    }

    fn human_words(&mut self, id: &str, at: Option<Instant>, text: String) {
        self.close();
        self.time(at);
        let after = std::mem::take(&mut self.after);
        if let Some(reason) = self.forbidden_here() {
            return self.skip(reason);
        }
        let words = hash(&[text.as_bytes()]);
        let key = if id.is_empty() {
            self.key_without_id(at, words)
        } else {
            self.key(id, at, words)
        };
        if self.known.contains(&key) {
            return self.skip(Reason::Copy);
        }
        let bytes = self.reading.text_bytes + text.len() + short(id).len();
        if self.reading.exchanges.len() >= EXCHANGE_LIMIT || bytes > TEXT_LIMIT {
            return self.skip(Reason::BeyondLimit);
        }
        self.known.insert(key);
        self.reading.text_bytes = bytes;
        if after != 0
            && let Some(first) = self.following.insert(after, self.reading.exchanges.len())
        {
            self.replaced(first);
        }
        let feedback = self.rules.feedback(&text);
        self.begin(Exchange {
            id: short(id).to_owned(),
            at,
            place: self.reading.place,
            prompt: Some(Prompt {
                text,
                feedback,
                interrupted: false,
            }),
            answer: None,
            tools: Vec::new(),
            skills: Vec::new(),
            files: Vec::new(),
            key,
            words,
            after,
            others: Others::default(),
        });
        self.perhaps_again();
    }

    /// A turn of a person of which nothing may or can be kept.
    fn no_words(&mut self, reason: Reason) {
        self.close();
        self.skip(reason);
    }

    /// Something other than a person's words sets the agent to work: what it does now answers no
    /// prompt, but its tools and skills belong to the session.
    pub(crate) fn aside(&mut self, id: &str, at: Option<Instant>) {
        self.close();
        if self.reading.exchanges.len() >= EXCHANGE_LIMIT || self.forbidden_here().is_some() {
            return;
        }
        let key = self.key(id, at, 0);
        if id.is_empty() || !self.known.insert(key) {
            return;
        }
        self.begin(Exchange {
            id: String::new(),
            at,
            place: self.reading.place,
            prompt: None,
            answer: None,
            tools: Vec::new(),
            skills: Vec::new(),
            files: Vec::new(),
            key,
            words: 0,
            after: 0,
            others: Others::default(),
        });
    }

    fn begin(&mut self, mut exchange: Exchange) {
        exchange.others = std::mem::take(&mut self.reading.before);
        self.reading.exchanges.push(exchange);
        self.reading.open = true;
        self.reading.lost = false;
    }

    /// The agent called a tool.
    pub(crate) fn tool(&mut self, name: &str) {
        let name = tool_name(name);
        self.name(&name, |exchange| &mut exchange.tools);
    }

    /// The agent loaded a skill.
    pub(crate) fn skill(&mut self, name: &str) {
        self.name(name.trim(), |exchange| &mut exchange.skills);
    }

    /// The agent wrote a file; a relative path counts from where the session is.
    pub(crate) fn file(&mut self, path: &str) {
        if path.is_empty() {
            return;
        }
        let here = self.reading.places.get(self.reading.place as usize);
        let path = match here {
            Some(here) if !is_absolute(path) && is_absolute(&here.directory) => {
                format!("{}/{path}", here.directory.trim_end_matches('/'))
            }
            _ => path.to_owned(),
        };
        if !self.rules.exclude.covers(&path) {
            self.name(&path, |exchange| &mut exchange.files);
        }
    }

    /// Adds a name to a list of the open exchange, once.
    fn name(&mut self, name: &str, list: fn(&mut Exchange) -> &mut Vec<String>) {
        let name = short(name);
        let full = self.reading.text_bytes + name.len() > TEXT_LIMIT;
        let Some(exchange) = self.open_exchange() else {
            return;
        };
        let names = list(exchange);
        let known = names.iter().any(|known| known == name);
        if name.is_empty() || full || known || names.len() >= NAME_LIMIT {
            return;
        }
        names.push(name.to_owned());
        self.reading.text_bytes += name.len();
    }

    /// What was kept so far, in a form that may be stored and gone on with.
    pub(crate) fn so_far(&mut self) -> &Reading {
        self.seal();
        &self.reading
    }

    /// The whole reading. `session` names it when the file does not.
    pub(crate) fn finish(mut self, session: &str) -> Reading {
        self.seal();
        self.session(session);
        let mut reading = self.reading;
        if reading.verdict.is_none() {
            reading.verdict = judge(&reading, self.rules);
        }
        if reading.verdict.is_some() {
            // Nothing of such a session is kept but what recognises copies of it.
            for exchange in &mut reading.exchanges {
                if let Some(prompt) = &mut exchange.prompt {
                    prompt.text = String::new();
                    prompt.feedback = Vec::new();
                }
                exchange.answer = None;
            }
        }
        reading.exchanges = without_silence(reading.exchanges);
        for exchange in &mut reading.exchanges {
            if exchange.id.is_empty() && exchange.at.is_none() && exchange.prompt.is_some() {
                // Without id and time only the session tells equal words apart.
                exchange.key = hash(&[&exchange.key.to_le_bytes(), reading.session.as_bytes()]);
            }
        }
        reading
    }

    fn open_exchange(&mut self) -> Option<&mut Exchange> {
        if self.reading.open {
            self.reading.exchanges.last_mut()
        } else {
            None
        }
    }

    /// The exchange at hand is over. Until the next one begins, what comes belongs to a turn that is
    /// not kept.
    fn close(&mut self) {
        self.seal();
        self.reading.open = false;
        self.reading.lost = true;
    }

    /// Why nothing that is typed here may be kept, if so.
    fn forbidden_here(&self) -> Option<Reason> {
        if self.reading.place == BEYOND {
            return Some(Reason::BeyondLimit);
        }
        let here = self.reading.places.get(self.reading.place as usize);
        here.is_some_and(|here| here.excluded)
            .then_some(Reason::ExcludedDirectory)
    }
}

/// Drops exchanges that say nothing. What others wrote there counts with the next one, or the last.
fn without_silence(exchanges: Vec<Exchange>) -> Vec<Exchange> {
    let mut kept: Vec<Exchange> = Vec::with_capacity(exchanges.len());
    let mut loose = Others::default();
    for mut exchange in exchanges {
        if exchange.says_something() {
            exchange.others.join(std::mem::take(&mut loose));
            kept.push(exchange);
        } else {
            loose.join(exchange.others);
        }
    }
    if let Some(last) = kept.last_mut() {
        last.others.join(loose);
    }
    kept
}

/// Whether no person made the session.
fn judge(reading: &Reading, rules: &Rules) -> Option<Reason> {
    let prompts: Vec<(&Exchange, &Prompt)> = reading
        .exchanges
        .iter()
        .filter_map(|exchange| exchange.prompt.as_ref().map(|prompt| (exchange, prompt)))
        .collect();
    let (_, first) = prompts.first()?;
    let mut directories: Vec<&str> = prompts
        .iter()
        .filter_map(|(exchange, _)| reading.places.get(exchange.place as usize))
        .map(|place| place.directory.as_str())
        .collect();
    directories.dedup();
    // Where there is one time only, it may be that of the file, or nothing was answered yet.
    let seconds = reading
        .first_at
        .zip(reading.last_at)
        .filter(|(first, last)| first < last)
        .map(|(first, last)| last.as_second() - first.as_second());
    let evidence = Evidence {
        directories: &directories,
        entrypoint: &reading.entrypoint,
        headless: reading.headless,
        prompt: &first.text,
        human_turns: prompts.len(),
        seconds,
    };
    own_calls::verdict(evidence, &rules.agent_markers)
}
