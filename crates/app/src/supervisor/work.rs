//! The supervisor at work: look, start what may begin, wait for the next reason to look.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use skillopt_core::schedule::Surroundings;
use skillopt_core::{Instant, Problem};
use skillopt_models::CancelToken;
use skillopt_store::{data, locks, scheduled};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::awake::Awake;
use super::child::{self, Exit};
use super::look::{aside, new_sessions};
use super::order;
use super::poke::Ear;
use super::settle::{Night, Stopped, settle, settle_the_dead};
use super::state::{FirstLine, Overall, ProjectState, Supervising, SupervisorState};
use super::survey::{Held, Plan, Start, Survey};
use super::{Launch, surroundings};
use crate::context::App;
use crate::handoff;
use crate::scheduled::Scheduled;
use crate::sleep::RunInput;

/// The wall clock is looked at this often, whatever happens: it can be set, and a machine can have slept.
const TICK: Duration = Duration::from_secs(60);
/// How often a folder is looked at in which a night waits for answers.
const ANSWERS: Duration = Duration::from_secs(5);
/// How often progress is read while a night runs.
const PROGRESS: Duration = Duration::from_secs(2);
/// How long a night may take to end after it was told to.
const GRACE: Duration = Duration::from_secs(20);
/// For how long a count of new sessions is good.
const COUNT_IS_GOOD: Duration = Duration::from_secs(600);

/// Starts nights that are due.
#[derive(Debug)]
pub struct Supervisor;

/// What a host holds of its supervisor. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    /// Dropped when nights that end with this get no more time.
    hurry: CancelToken,
    words: mpsc::UnboundedSender<Word>,
    state: watch::Receiver<SupervisorState>,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

enum Word {
    Look,
    /// The user ends the night of this project, if a process of ours runs it.
    End(String),
    Stop,
}

impl Supervisor {
    /// Starts a supervisor on the current tokio runtime, which it needs.
    #[must_use]
    pub fn start(app: App, launch: Launch) -> Handle {
        let (words, received) = mpsc::unbounded_channel();
        let (sender, state) = watch::channel(SupervisorState::nothing_yet());
        let (exits_in, exits) = mpsc::unbounded_channel();
        let hurry = CancelToken::new();
        #[cfg(target_os = "linux")]
        let environment = Arc::clone(&app.environment);
        let work = Work {
            app,
            launch,
            words: received,
            state: sender,
            exits_in,
            exits,
            children: BTreeMap::new(),
            hurry: hurry.clone(),
            lock: None,
            ear: Ear::deaf(),
            heard: false,
            awake: None,
            counts: BTreeMap::new(),
            sleepless: None,
            unsettled: None,
            hold_back: None,
            #[cfg(target_os = "linux")]
            _wakings: tokio::task::JoinSet::from_iter([look_after_sleep(
                environment,
                words.downgrade(),
            )]),
        };
        let task = tokio::spawn(work.run());
        Handle {
            hurry,
            words,
            state,
            task: Arc::new(Mutex::new(Some(task))),
        }
    }
}

impl Handle {
    /// The state, now and whenever it changes. It is told unchanged as well when another process has said to
    /// look again: settings that are no part of it may be others now.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<SupervisorState> {
        self.state.clone()
    }

    /// Says to look again: a setting, a clock or the store has changed.
    pub fn poke(&self) {
        // One that has ended looks no more.
        let _ = self.words.send(Word::Look);
    }

    /// As [`order::cancel`]; and a night that this supervisor has started is ended even when it cannot
    /// read its order, because it has not been written down yet or hangs.
    pub fn cancel(&self, app: &App, project: &str) -> Result<bool, Problem> {
        let ours = self
            .state
            .borrow()
            .projects
            .iter()
            .any(|one| one.id == project && one.running.is_some());
        let found = order::cancel(app, project)?;
        // One that has ended has no nights left.
        let _ = self.words.send(Word::End(project.to_owned()));
        Ok(found || ours)
    }

    /// Gives the nights that [`shutdown`](Self::shutdown) ends no more time.
    pub fn hurry(&self) {
        self.hurry.drop_all();
    }

    /// Ends the nights this process started, within a bound, writes down that they were interrupted, and
    /// lets go of the schedule. Later calls do nothing.
    pub async fn shutdown(&self) {
        let _ = self.words.send(Word::Stop);
        let task = self
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(task) = task {
            // It can only fail by a panic, which has been printed.
            let _ = task.await;
        }
    }
}

struct Work {
    app: App,
    launch: Launch,
    words: mpsc::UnboundedReceiver<Word>,
    state: watch::Sender<SupervisorState>,
    exits_in: mpsc::UnboundedSender<Exit>,
    exits: mpsc::UnboundedReceiver<Exit>,
    children: BTreeMap<String, Night>,
    /// The one of [`Handle::hurry`].
    hurry: CancelToken,
    lock: Option<locks::Guard>,
    ear: Ear,
    /// Another process has said to look again, and no look was told since.
    heard: bool,
    /// Held while a night runs that asks for it; an error is why it could not be had.
    awake: Option<Result<Awake, String>>,
    /// New sessions by project, and when they were counted.
    counts: BTreeMap<String, (tokio::time::Instant, u64)>,
    /// Why the computer could not be kept awake for the last night, in a sentence.
    sleepless: Option<String>,
    /// Why the end of the last night could not be written down, in a sentence.
    unsettled: Option<String>,
    /// No night is begun before.
    hold_back: Option<tokio::time::Instant>,
    /// Ends with this.
    #[cfg(target_os = "linux")]
    _wakings: tokio::task::JoinSet<()>,
}

impl Work {
    async fn run(mut self) {
        loop {
            let looked = match self.follow_the_data() {
                Ok(()) => {
                    self.take_the_lock();
                    self.look().await
                }
                Err(problem) => Err(problem),
            };
            let wait = match looked {
                Ok(wait) => wait,
                Err(problem) => {
                    self.say_trouble(problem.message);
                    TICK
                }
            };
            tokio::select! {
                word = self.words.recv() => {
                    // Without one, whoever could say to stop has gone.
                    let goes_on = word.is_some_and(|word| self.goes_on_after(word));
                    if !goes_on {
                        break;
                    }
                }
                () = self.ear.hear() => self.heard = true,
                Some(exit) = self.exits.recv() => self.ended(&exit),
                () = tokio::time::sleep(wait) => {}
            }
        }
        self.end_all().await;
    }

    /// Does what was said, and what has been said since: several words to look are one. Whether none of
    /// them was to stop.
    fn goes_on_after(&mut self, first: Word) -> bool {
        let mut next = Some(first);
        while let Some(word) = next {
            match word {
                Word::Look => {}
                Word::End(project) => {
                    if let Some(night) = self.children.get_mut(&project) {
                        night.stop(Stopped::ByUser);
                    }
                }
                Word::Stop => return false,
            }
            next = self.words.try_recv().ok();
        }
        true
    }

    /// The data folder may have been moved: then the store in the new place is the true one, and nothing is
    /// begun over the old one.
    fn follow_the_data(&mut self) -> Result<(), Problem> {
        if self.children.is_empty() && self.app.has_moved() {
            let app = self.app.followed()?;
            self.lock = None;
            self.ear = Ear::deaf();
            self.app = app;
        }
        Ok(())
    }

    fn take_the_lock(&mut self) {
        if self.lock.is_some() {
            return;
        }
        let now = self.app.clock.now();
        if let Ok(lock) = locks::supervisor(&self.app.paths, "starting nights", now) {
            self.lock = Some(lock);
            // Without an ear, orders of others are seen at the next tick.
            self.ear = Ear::open(&self.app.paths).unwrap_or(Ear::deaf());
        }
    }

    fn supervising(&self) -> Supervising {
        if self.lock.is_some() {
            return Supervising::Here;
        }
        match locks::supervisor_holder(&self.app.paths) {
            Some(holder) => Supervising::Another(holder.to_string()),
            None => Supervising::Nobody,
        }
    }

    /// Looks, starts what may begin, tells the state, and gives how long nothing needs to be looked at.
    async fn look(&mut self) -> Result<Duration, Problem> {
        let mut plan = self.plan().await?;
        let held_back = self
            .hold_back
            .is_some_and(|until| tokio::time::Instant::now() < until);
        if self.lock.is_some() && !held_back && !plan.starts.is_empty() {
            for start in std::mem::take(&mut plan.starts) {
                self.begin(&start);
            }
            plan = self.plan().await?;
        }
        self.write_down(&plan.held)?;
        self.stay_awake().await;
        let wait = self.wait(&plan);
        let heard = std::mem::take(&mut self.heard);
        self.state.send_if_modified(|state| {
            let changed = *state != plan.state || heard;
            *state = plan.state;
            changed
        });
        Ok(wait)
    }

    async fn plan(&mut self) -> Result<Plan, Problem> {
        let ours: BTreeSet<String> = self.children.keys().cloned().collect();
        let mut survey = self.survey(ours).await?;
        let around = if survey.asks_for_surroundings() {
            surroundings::read(&self.app.environment, self.app.clock.now()).await
        } else {
            Surroundings::default()
        };
        let mut sessions = BTreeMap::new();
        for project in survey.asks_for_sessions() {
            let id = project.id.clone();
            let known = self.counts.get(&id);
            if let Some((_, count)) = known.filter(|(at, _)| at.elapsed() < COUNT_IS_GOOD) {
                sessions.insert(id, *count);
                continue;
            }
            let app = self.app.clone();
            if let Some(count) = aside(move || new_sessions(&app, project)).await? {
                let now = tokio::time::Instant::now();
                self.counts.insert(id.clone(), (now, count));
                sessions.insert(id, count);
            }
        }
        survey.trouble = survey.trouble.or_else(|| self.unsettled.clone());
        Ok(survey.plan(
            &around,
            &sessions,
            self.supervising(),
            self.sleepless.clone(),
        ))
    }

    async fn survey(&self, ours: BTreeSet<String>) -> Result<Survey, Problem> {
        let app = self.app.clone();
        let supervises = self.lock.is_some();
        aside(move || {
            if !supervises {
                return Survey::take(&app, &ours);
            }
            // What nights print while they run is bounded as well; a log that cannot be put aside keeps
            // no night from running.
            let _ = data::bound_log(&app.paths);
            let survey = Survey::take(&app, &ours)?;
            let tidied = tidy(&app, &survey)?;
            if ask_for_what_is_answered(&app, &survey)? || tidied {
                return Survey::take(&app, &ours);
            }
            Ok(survey)
        })
        .await?
    }

    /// Writes down which nights wait, so that one that never begins is not lost without a word.
    fn write_down(&self, held: &[Held]) -> Result<(), Problem> {
        if held.is_empty() || self.lock.is_none() {
            return Ok(());
        }
        self.app.store.commit("nights wait", |tx| {
            for one in held {
                scheduled::wait(tx, &one.project, one.slot, one.caught_up, &one.reason)?;
            }
            Ok(())
        })
    }

    fn wait(&self, plan: &Plan) -> Duration {
        if plan.state.overall == Overall::Working {
            return PROGRESS;
        }
        let until = |at: Instant| {
            let left = at.duration_since(self.app.clock.now());
            Duration::try_from(left).unwrap_or(Duration::ZERO)
        };
        let asks = plan.state.pause.is_none()
            && plan
                .state
                .projects
                .iter()
                .any(ProjectState::waits_for_answers);
        let longest = if asks { ANSWERS } else { TICK };
        // Rounded up, so that the moment has come when it is looked at.
        plan.next
            .map_or(longest, |at| until(at) + Duration::from_millis(10))
            .clamp(Duration::from_millis(200), longest)
    }

    /// Keeps the computer awake exactly while a night runs that asks for it.
    async fn stay_awake(&mut self) {
        let wanted = self.children.values().any(|night| night.keep_awake);
        if !wanted {
            self.awake = None;
            return;
        }
        if self.awake.is_some() {
            return;
        }
        let held = Awake::hold(&self.app.environment).await;
        // It stays until it can be had: the user sees in the morning why a night did not get far.
        self.sleepless = held
            .as_ref()
            .err()
            .map(|why| format!("The computer could not be kept awake for the last night: {why}."));
        self.awake = Some(held);
    }

    fn begin(&mut self, start: &Start) {
        let request = RunInput {
            project: Some(start.root.clone().into()),
            scheduled: start.due.as_ref().map(|due| Scheduled {
                slot: Some(due.slot),
                caught_up: start.caught_up,
                finish_by: due.finish_by.filter(|_| !start.requested),
            }),
            ..RunInput::default()
        };
        let log = crate::log::for_a_program(&self.app.paths);
        let night = Night {
            slot: start.due.as_ref().map(|due| due.slot),
            caught_up: start.caught_up,
            tries: start.tries,
            begun: start.begun,
            requested: start.requested,
            keep_awake: start.keep_awake,
            stop: CancelToken::new(),
            stopped: None,
        };
        let stop = night.stop.clone();
        let started = child::start(
            &self.launch,
            &request,
            start.root.as_ref(),
            &self.app.environment,
            log,
        );
        self.children.insert(start.project.clone(), night);
        self.counts.remove(&start.project);
        let project = start.project.clone();
        match started {
            Ok(child) => {
                let exits = self.exits_in.clone();
                tokio::spawn(async move {
                    // The receiver lives as long as there are children.
                    let _ = exits.send(child.end(project, stop, GRACE).await);
                });
            }
            Err(error) => {
                let exit = Exit {
                    project,
                    status: Err(error),
                    said: None,
                };
                self.ended(&exit);
            }
        }
    }

    /// A night's process has ended: what it could not write down itself is written down now.
    fn ended(&mut self, exit: &Exit) {
        let Some(night) = self.children.remove(&exit.project) else {
            return;
        };
        self.unsettled = settle(&self.app, exit, &night)
            .err()
            .map(|problem| problem.message);
        if self.unsettled.is_some() {
            // What cannot be written down would be begun again and again.
            self.hold_back = Some(tokio::time::Instant::now() + TICK);
        }
    }

    async fn end_all(&mut self) {
        for night in self.children.values_mut() {
            night.stop(Stopped::WithHost);
        }
        let mut hurried = false;
        while !self.children.is_empty() {
            tokio::select! {
                exit = self.exits.recv() => match exit {
                    Some(exit) => self.ended(&exit),
                    None => break,
                },
                () = self.hurry.dropped(), if !hurried => {
                    hurried = true;
                    for night in self.children.values() {
                        night.stop.drop_all();
                    }
                }
            }
        }
    }

    fn say_trouble(&mut self, message: String) {
        self.state.send_modify(|state| {
            state.overall = Overall::Attention;
            state.first_line = FirstLine::Trouble {
                reason: message.clone(),
            };
            state.sentence.clone_from(&message);
            state.trouble = Some(message);
        });
    }
}

/// Writes down rules that are new and tests whose process has died, and gives up nights whose time is over;
/// whether there were any. Blocks on the disk.
fn tidy(app: &App, survey: &Survey) -> Result<bool, Problem> {
    let settled = settle_the_dead(app, survey.idle())?;
    let over: Vec<_> = survey.over().collect();
    let rules: Vec<_> = survey.new_rules().collect();
    if over.is_empty() && rules.is_empty() {
        return Ok(settled);
    }
    app.store.commit("tidy schedule", |tx| {
        for (project, rule) in &rules {
            scheduled::set_rule(tx, project, rule)?;
            scheduled::forget_waits(tx, project)?;
        }
        for (project, slot) in &over {
            scheduled::give_up_others(tx, project, *slot)?;
        }
        Ok(true)
    })
}

/// A night that waited for answers goes on by itself once all of them are there; whether one does, or
/// anything else is new about answers. Blocks on the disk.
fn ask_for_what_is_answered(app: &App, survey: &Survey) -> Result<bool, Problem> {
    let mut new = false;
    for project in survey.waiting_for_answers() {
        // A folder that cannot be read is told by the command that shows the questions.
        let Ok(looked) = handoff::look(app, project.clone()) else {
            continue;
        };
        new |= looked.news || looked.answered;
        if looked.answered {
            app.store
                .commit("night answered", |tx| scheduled::request(tx, &project.id))?;
        }
    }
    Ok(new)
}

/// A computer that wakes up is looked at right away, rather than at the next tick.
#[cfg(target_os = "linux")]
async fn look_after_sleep(
    environment: Arc<BTreeMap<String, String>>,
    words: mpsc::WeakUnboundedSender<Word>,
) {
    let wakings = async {
        let bus = super::bus::Bus::system(&environment).await?;
        bus.wakings(|| {
            if let Some(words) = words.upgrade() {
                let _ = words.send(Word::Look);
            }
        })
        .await
    };
    // Without the bus, the next tick sees that the night is due.
    let _ = wakings.await;
}
