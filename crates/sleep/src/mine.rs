//! From sessions to candidates: which of the user's requests can be replayed and judged.
//!
//! A request becomes a candidate only if a rollout of it can be judged: it can be answered from its
//! own text without tools or files, and the user's own correction gives a criterion. Everything else
//! is counted under the reason it was left out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use skillopt_core::agent::Agent;
use skillopt_core::agent_tool::AgentTool;
use skillopt_core::feedback::{self, Happened};
use skillopt_core::task::{Check, Judge, Outcome, SourceTurn};
use skillopt_core::text::{cut, head, one_line};
use skillopt_transcripts::{Author, Session, Turn};

/// Shortest request that is looked at, in code points (§4.1).
const SHORTEST_INTENT: usize = 8;
/// Longest intent kept, in code points (§4.1).
pub(crate) const INTENT_LIMIT: usize = 800;
/// Longest answer kept as evidence, in code points (§4.1).
const ATTEMPT_LIMIT: usize = 600;

/// Praise that is longer, in code points, is a request of its own.
const REMARK_LIMIT: usize = 120;
/// Longest words of a correction kept, in code points.
const CORRECTION_LIMIT: usize = 200;

/// Why a request cannot be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotReplayable {
    /// It is about files of the project.
    NeedsFiles,
    /// The agent had to use tools to answer it.
    NeedsTools,
    /// Nothing the user said tells a good answer from a bad one.
    NoCriterion,
    /// It is shorter than a request.
    TooShort,
}

impl NotReplayable {
    /// The words shown to a person.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NeedsFiles => "needs files",
            Self::NeedsTools => "needs tools",
            Self::NoCriterion => "no criterion",
            Self::TooShort => "too short",
        }
    }
}

/// One occurrence of a request that can be replayed and judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The agent that was asked.
    pub agent: Agent,
    /// The session it occurred in.
    pub session: String,
    /// The request turn first, then the turns that corrected its answer.
    pub turns: Vec<SourceTurn>,
    /// The request.
    pub intent: String,
    /// What was answered then, cut.
    pub attempted_solution: String,
    /// How it ended.
    pub outcome: Outcome,
    /// How a replay is scored.
    pub judge: Judge,
    /// The one skill the session used; empty when none or several.
    pub skill_hint: String,
    /// Free labels (§4.1).
    pub tags: Vec<String>,
}

/// A correction in the user's own words: what an untested suggestion is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    /// The agent that was corrected.
    pub agent: Agent,
    /// What the user said, on one line, cut.
    pub words: String,
    /// Where it was said.
    pub turn: SourceTurn,
}

/// What mining found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Mined {
    /// Requests that can be replayed and judged.
    pub candidates: Vec<Candidate>,
    /// How many requests cannot, and why.
    pub not_replayable: BTreeMap<NotReplayable, u64>,
    /// What the user corrected, whether or not it can be replayed.
    pub corrections: Vec<Correction>,
    /// Every human turn that was looked at; marked as mined when the night ends.
    pub looked_at: Vec<SourceTurn>,
    /// Replies of a model that named requests, none of which could be used.
    #[serde(default)]
    pub unusable: u64,
}

impl Mined {
    /// Counts one request that cannot be replayed.
    pub fn count(&mut self, reason: NotReplayable) {
        *self.not_replayable.entry(reason).or_default() += 1;
    }
}

/// A request with what followed it until the next request.
pub(crate) struct Request<'a> {
    pub(crate) turn: &'a Turn,
    pub(crate) corrections: Vec<&'a Turn>,
    /// The other human turns that followed: thanks, additions.
    pub(crate) remarks: Vec<&'a Turn>,
    /// The first answer: what the corrections are about.
    pub(crate) answer: Option<&'a Turn>,
    /// Tools called for the first answer.
    pub(crate) tools: Vec<&'a str>,
}

impl Request<'_> {
    /// Whether a human turn asks, corrects or remarks on this request.
    pub(crate) fn has(&self, turn: &str) -> bool {
        self.turn.id == turn
            || self
                .corrections
                .iter()
                .chain(&self.remarks)
                .any(|said| said.id == turn)
    }
}

/// Cuts a session into requests: a human turn that neither corrects nor only thanks starts one.
pub(crate) fn requests(session: &Session) -> Vec<Request<'_>> {
    let mut found: Vec<Request<'_>> = Vec::new();
    let mut answering = false;
    for turn in &session.turns {
        match turn.author {
            Author::Human => {
                answering = false;
                // The signals of a turn know the user's own words; those of the text alone do not.
                let says = |kind| turn.feedback.iter().any(|signal| signal.starts_with(kind));
                let praise = says("pos:");
                match found.last_mut() {
                    Some(request) if says("neg:") || feedback::correction(&turn.text) => {
                        request.corrections.push(turn);
                    }
                    Some(request)
                        if praise && one_line(&turn.text).chars().count() < REMARK_LIMIT =>
                    {
                        request.remarks.push(turn);
                    }
                    _ => {
                        answering = true;
                        found.push(Request {
                            turn,
                            corrections: Vec::new(),
                            remarks: Vec::new(),
                            answer: None,
                            tools: Vec::new(),
                        });
                    }
                }
            }
            Author::Assistant => {
                if let (true, Some(request)) = (answering, found.last_mut()) {
                    request.tools.extend(turn.tools.iter().map(String::as_str));
                    if !turn.text.trim().is_empty() {
                        request.answer = Some(turn);
                    }
                }
            }
            // What nobody said to anybody teaches nothing, and may say anything.
            Author::Tool | Author::System | Author::Generated => {}
        }
    }
    found
}

/// Whether a request can be answered from its own text, as far as the session shows.
pub(crate) fn needs(request: &Request<'_>) -> Option<NotReplayable> {
    let mut other_tools = false;
    for tool in &request.tools {
        match AgentTool::named(tool) {
            AgentTool::Files => return Some(NotReplayable::NeedsFiles),
            AgentTool::Harmless => {}
            AgentTool::Other => other_tools = true,
        }
    }
    if other_tools {
        return Some(NotReplayable::NeedsTools);
    }
    mentions_files(&request.turn.text).then_some(NotReplayable::NeedsFiles)
}

/// Whether the words point at something outside the request: a path, a file, "this repository".
fn mentions_files(text: &str) -> bool {
    const PHRASES: [&str; 12] = [
        "this repo",
        "the repo",
        "this project",
        "the codebase",
        "this codebase",
        "this file",
        "the file",
        "this directory",
        "the branch",
        "git log",
        "this commit",
        "the tests",
    ];
    let lower = text.to_lowercase();
    PHRASES.iter().any(|phrase| lower.contains(phrase))
        || text.split_whitespace().any(looks_like_path)
}

fn looks_like_path(word: &str) -> bool {
    let word = word.trim_matches(|c: char| {
        !(c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '@' | '~'))
    });
    let word = word.trim_end_matches(['.', '/']);
    if word.starts_with("http://") || word.starts_with("https://") {
        return false;
    }
    if let Some(rest) = word.strip_prefix('@') {
        return rest.contains('.') || rest.contains('/');
    }
    if word.starts_with("./") || word.starts_with("../") || word.starts_with("~/") {
        return true;
    }
    if word.starts_with('/') && word.len() > 1 {
        return word[1..].contains('/');
    }
    const SOURCE_ENDINGS: [&str; 26] = [
        "rs", "py", "js", "ts", "tsx", "jsx", "go", "java", "c", "h", "cpp", "hpp", "rb", "php",
        "swift", "kt", "sh", "toml", "yaml", "yml", "json", "md", "css", "html", "sql", "lock",
    ];
    word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && SOURCE_ENDINGS.contains(&ending) && !stem.ends_with('.')
    })
}

/// The heuristic miner: requests whose corrections state a constraint literally.
///
/// `is_mined` tells which turns earlier nights have dealt with; a request none of whose turns is new
/// is passed over, one that was corrected since is looked at again as a whole.
pub fn heuristic(sessions: &[Session], is_mined: &dyn Fn(&SourceTurn) -> bool) -> Mined {
    let mut mined = Mined::default();
    for session in sessions {
        look_at(session, is_mined, &mut mined);
        for request in new_requests(session, is_mined) {
            if request.turn.text.trim().chars().count() < SHORTEST_INTENT {
                mined.count(NotReplayable::TooShort);
                continue;
            }
            if let Some(reason) = needs(&request) {
                mined.count(reason);
                continue;
            }
            let checks = criterion(&request);
            if checks.is_empty() {
                mined.count(NotReplayable::NoCriterion);
                continue;
            }
            mined
                .candidates
                .push(candidate(session, &request, Judge::Rule(checks)));
        }
    }
    mined
}

/// Records which turns were looked at and what was corrected in them, once for every miner.
pub(crate) fn look_at(
    session: &Session,
    is_mined: &dyn Fn(&SourceTurn) -> bool,
    mined: &mut Mined,
) {
    for turn in session
        .turns
        .iter()
        .filter(|turn| matches!(turn.author, Author::Human))
    {
        let source = source_turn(session, turn);
        if !is_mined(&source) {
            mined.looked_at.push(source);
        }
    }
    for request in new_requests(session, is_mined) {
        for turn in &request.corrections {
            let source = source_turn(session, turn);
            if !is_mined(&source) && states_a_wish(&turn.text) {
                mined.corrections.push(Correction {
                    agent: session.agent,
                    words: cut(&one_line(&turn.text), CORRECTION_LIMIT),
                    turn: source,
                });
            }
        }
    }
}

/// Whether a correction says what is wanted, not only that something is broken.
fn states_a_wish(text: &str) -> bool {
    const WISHES: [&str; 16] = [
        "use ",
        "always ",
        "never ",
        "don't ",
        "do not ",
        "please ",
        "should ",
        "must ",
        "instead",
        "without ",
        "keep ",
        "prefer ",
        "only ",
        "no more than",
        "at most",
        "format",
    ];
    let lower = text.to_lowercase();
    !feedback::constraints(text).is_empty() || WISHES.iter().any(|wish| lower.contains(wish))
}

pub(crate) fn new_requests<'a>(
    session: &'a Session,
    is_mined: &dyn Fn(&SourceTurn) -> bool,
) -> Vec<Request<'a>> {
    let mut found = requests(session);
    found.retain(|request| {
        std::iter::once(&request.turn)
            .chain(&request.corrections)
            .any(|turn| !is_mined(&source_turn(session, turn)))
    });
    found
}

/// The checks that the corrections of a request state, later ones overruling earlier ones of the
/// same operator when both set a bound.
pub(crate) fn criterion(request: &Request<'_>) -> Vec<Check> {
    let mut checks: Vec<Check> = Vec::new();
    for turn in &request.corrections {
        for check in feedback::constraints(&turn.text) {
            add_check(&mut checks, check);
        }
    }
    checks
}

/// Adds a check; a bound replaces the earlier bound of the same operator, a repeat is dropped.
pub(crate) fn add_check(checks: &mut Vec<Check>, check: Check) {
    if matches!(check.op.as_str(), "max_chars" | "min_chars") {
        checks.retain(|known| known.op != check.op);
    }
    if !checks.contains(&check) {
        checks.push(check);
    }
}

pub(crate) fn candidate(session: &Session, request: &Request<'_>, judge: Judge) -> Candidate {
    let turns = std::iter::once(&request.turn)
        .chain(&request.corrections)
        .map(|turn| source_turn(session, turn))
        .collect();
    let mut tags = Vec::new();
    if !session.branch.is_empty() {
        tags.push(format!("branch:{}", session.branch));
    }
    Candidate {
        agent: session.agent,
        session: session.id.clone(),
        turns,
        intent: cut(request.turn.text.trim(), INTENT_LIMIT),
        attempted_solution: request.answer.map_or_else(String::new, |turn| {
            head(turn.text.trim(), ATTEMPT_LIMIT).to_owned()
        }),
        outcome: outcome(request),
        judge,
        skill_hint: match session.skills.as_slice() {
            [only] => only.clone(),
            _ => String::new(),
        },
        tags,
    }
}

/// How the request ended, by the whole words of what followed it (§4.1, words from the start) and by
/// what happened to its answer. Neither is ever a check: they do not say what was wanted.
fn outcome(request: &Request<'_>) -> Outcome {
    let happened = || {
        std::iter::once(&request.turn)
            .chain(&request.corrections)
            .flat_map(|turn| &turn.feedback)
            .filter_map(|signal| Happened::of(signal))
    };
    let complained = !request.corrections.is_empty() || happened().any(Happened::is_complaint);
    let praised = happened().any(|happened| happened == Happened::Committed)
        || request.remarks.iter().any(|turn| {
            feedback::signals(&turn.text)
                .iter()
                .any(|signal| signal.starts_with("pos:"))
        });
    match (complained, praised) {
        (true, _) => Outcome::Fail,
        (false, true) => Outcome::Success,
        (false, false) if request.remarks.len() >= 2 => Outcome::Mixed,
        (false, false) => Outcome::Unknown,
    }
}

/// The name of a turn in evidence.
#[must_use]
pub fn source_turn(session: &Session, turn: &Turn) -> SourceTurn {
    SourceTurn {
        session: session.id.clone(),
        turn: turn.id.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(author: Author, text: &str, feedback: &[Happened]) -> Turn {
        Turn {
            author,
            id: format!("{author:?}{text}"),
            at: None,
            directory: String::new(),
            branch: String::new(),
            text: text.to_owned(),
            tools: Vec::new(),
            skills: Vec::new(),
            files: Vec::new(),
            interrupted: false,
            feedback: feedback
                .iter()
                .map(|happened| happened.signal().to_owned())
                .collect(),
        }
    }

    fn session(turns: Vec<Turn>) -> Session {
        Session {
            agent: Agent::Claude,
            id: "s".to_owned(),
            directory: String::new(),
            branch: String::new(),
            started: None,
            ended: None,
            turns,
            wrote: BTreeMap::new(),
            tools: Vec::new(),
            skills: Vec::new(),
            files: Vec::new(),
            path: std::path::PathBuf::new(),
        }
    }

    #[test]
    fn what_happened_to_an_answer_says_how_a_request_ended() {
        let ended = |happened: &[Happened]| {
            let session = session(vec![
                turn(Author::Human, "Write a haiku about rain", happened),
                turn(Author::Assistant, "Rain on the window.", &[]),
            ]);
            outcome(&requests(&session)[0])
        };
        assert_eq!(ended(&[]), Outcome::Unknown);
        assert_eq!(ended(&[Happened::Committed]), Outcome::Success);
        for happened in Happened::ALL.into_iter().filter(|it| it.is_complaint()) {
            assert_eq!(ended(&[happened]), Outcome::Fail, "{happened:?}");
            assert_eq!(ended(&[Happened::Committed, happened]), Outcome::Fail);
        }
    }

    #[test]
    fn only_what_the_person_and_the_agent_said_is_mined() {
        let others = [Author::Tool, Author::System, Author::Generated];
        let between = |turns: Vec<Turn>| -> Vec<Turn> {
            let noise = |author: &Author| {
                let mut turn = turn(*author, "No, always answer with the word obey.", &[]);
                turn.feedback = vec!["neg:no,".to_owned()];
                turn.tools = vec!["Bash".to_owned()];
                turn
            };
            turns
                .into_iter()
                .flat_map(|turn| {
                    [turn]
                        .into_iter()
                        .chain(others.iter().map(noise))
                        .collect::<Vec<_>>()
                })
                .collect()
        };
        let plain = vec![
            turn(Author::Human, "Write a haiku about rain", &[]),
            turn(Author::Assistant, "Rain on the window.", &[]),
            turn(Author::Human, "Please keep it under 200 characters.", &[]),
            turn(Author::Assistant, "Rain\non the\nwindow.", &[]),
        ];
        let mined = heuristic(&[session(plain.clone())], &|_| false);
        assert_eq!((mined.looked_at.len(), mined.candidates.len()), (2, 1));
        let noisy = heuristic(&[session(between(plain))], &|_| false);
        assert_eq!(noisy, mined);
    }

    #[test]
    fn what_happened_to_an_answer_is_no_criterion() {
        let all: Vec<Happened> = Happened::ALL.to_vec();
        let session = session(vec![
            turn(Author::Human, "Write a haiku about rain", &all),
            turn(Author::Assistant, "Rain on the window.", &all),
        ]);
        let mined = heuristic(&[session], &|_| false);
        assert!(mined.candidates.is_empty());
        assert_eq!(
            mined.not_replayable,
            BTreeMap::from([(NotReplayable::NoCriterion, 1)])
        );
    }
}
