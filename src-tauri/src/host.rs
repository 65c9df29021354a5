//! The process of the tray: it keeps the schedule, shows the icon, tells what has to be told, and opens
//! windows in a process of their own.

mod cards;
mod orders;
mod stuck;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use jiff::ZonedDateTime;
use skillopt_app::commands::{self, Command, Output};
use skillopt_app::context::App;
use skillopt_app::notices::{self, Told, WaitingProposal};
use skillopt_app::signals;
use skillopt_app::supervisor::{Handle, Launch, Supervisor, SupervisorState};
use skillopt_app::{Nothing, Problem};
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::watch;

use self::cards::{Cards, Shown};
use crate::autostart;
use crate::display::Display;
use crate::instance::{self, Claim, First};
use crate::menu::{Face, Order};
use crate::notify::Card;
use crate::opened::Windows;
use crate::place::Place;
use crate::said;
use crate::session;
use crate::surroundings;
use crate::tray::Tray;
use crate::words::Words;

/// How often the face is looked at again when nothing happens: "today" becomes "tomorrow".
const REFRESH: Duration = Duration::from_secs(60);
/// How long a desktop may take until something of it shows trays. Programs that start with the session
/// are often there before it.
const DESKTOP_STARTS: Duration = Duration::from_secs(10);

/// Runs until the user quits or the session ends.
pub(crate) fn run(open: Option<Place>, quietly: bool) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            said::say(format_args!(
                "The app cannot start: {error}.\nTry again.\n(runtime_failed)"
            ));
            return ExitCode::from(1);
        }
    };
    runtime.block_on(async {
        match start(open, quietly).await {
            Ok(code) => code,
            Err(problem) => {
                said::say_problem(&problem);
                let words = Words::of_the_session();
                let (orders, _) = mpsc::unbounded_channel();
                // The terminal has it already, if there is one.
                let _ = Card::of_problem(&problem, &words)
                    .show(orders, &words)
                    .await;
                ExitCode::from(1)
            }
        }
    })
}

async fn start(open: Option<Place>, quietly: bool) -> Result<ExitCode, Problem> {
    let paths = surroundings::paths()?;
    let (orders, given) = mpsc::unbounded_channel();
    let Claim::First(first) = instance::claim(&paths, open.as_ref(), &orders).await? else {
        return Ok(ExitCode::SUCCESS);
    };
    said::log_in(&paths);
    autostart::mend();
    let program = std::env::current_exe().map_err(|error| {
        Problem::permanent(
            "desktop_program_unknown",
            format!("The app cannot find its own program: {error}."),
            "Start it by its full path.",
        )
    })?;
    let windows = Windows::of(program.clone(), orders.clone());
    let app = match surroundings::app() {
        Ok(app) => app,
        Err(problem) => {
            said::say_problem(&problem);
            stuck::show(&problem, windows, orders, given).await;
            return Ok(ExitCode::from(1));
        }
    };
    let launch = Launch {
        program,
        arguments: vec![OsString::from("night")],
    };
    let supervisor = Supervisor::start(app.clone(), launch);
    let host = Host {
        supervisor,
        words: Words::of_the_session(),
        windows,
        cards: Cards::start(orders.clone()),
        orders,
        tray: None,
        nothing_shows_it: false,
        mute: false,
        waiting: Vec::new(),
        unwritten: Told::default(),
        first,
        app,
    };
    host.live(given, open, quietly).await;
    Ok(ExitCode::SUCCESS)
}

struct Host {
    app: App,
    supervisor: Handle,
    words: Words,
    windows: Windows,
    cards: Cards,
    orders: UnboundedSender<Order>,
    tray: Option<Tray>,
    /// Nothing on this desktop shows trays, and it has had its time to start.
    nothing_shows_it: bool,
    /// The last notification could not be shown.
    mute: bool,
    waiting: Vec<WaitingProposal>,
    /// What was told and could not be written down.
    unwritten: Told,
    first: First,
}

impl Host {
    async fn live(
        mut self,
        mut given: mpsc::UnboundedReceiver<Order>,
        open: Option<Place>,
        quietly: bool,
    ) {
        let tray = Tray::show(Face::blank(&self.words), self.orders.clone()).await;
        match tray {
            Ok(tray) => self.tray = Some(tray),
            Err(error) => said::say(format_args!("No tray icon can be shown: {error}.")),
        }
        let (report, mut missing) = watch::channel(false);
        if let Some(tray) = &self.tray {
            tokio::spawn(look_for_who_shows_it(tray.is_shown(), report.clone()));
        }
        if !Display::here().is_there() {
            said::say(
                "There is no display, so no window can be opened; the nights go on.\nUse `skillopt`, which needs none.\n(no_display)",
            );
        }
        self.say_recovered();
        let place = match open {
            Some(place) => Some(place),
            None => self.first_place(quietly).await,
        };
        if let Some(place) = place {
            self.carry_out(Order::Open(place)).await;
        }
        let mut state = self.supervisor.state();
        let mut end = std::pin::pin!(session::told_to_end());
        // Nothing of what is chosen from below is lost when something else comes first.
        loop {
            self.follow_the_data().await;
            let now = state.borrow_and_update().clone();
            self.show(&now).await;
            let wait = self
                .cards
                .kept_back()
                .map_or(REFRESH, |left| left.min(REFRESH));
            tokio::select! {
                () = &mut end => break,
                changed = state.changed() => if changed.is_err() { break },
                Some(order) = given.recv() => {
                    if order == Order::Quit {
                        break;
                    }
                    self.carry_out(order).await;
                }
                shown = self.cards.next() => self.note(shown),
                _ = missing.changed() => self.nothing_shows_it = *missing.borrow_and_update(),
                () = tokio::time::sleep(wait) => {}
            }
        }
        self.end().await;
    }

    /// Stops the nights and closes the windows, each within its bound. Whoever starts the app meanwhile
    /// waits for the end of this one.
    async fn end(mut self) {
        self.first.deafen();
        let supervisor = self.supervisor.clone();
        // The nights are told first: they have something to lose.
        let ending = async { tokio::join!(supervisor.shutdown(), self.windows.close()) };
        let mut ending = std::pin::pin!(ending);
        tokio::select! {
            _ = &mut ending => {}
            () = signals::told_again() => {
                self.supervisor.hurry();
                ending.await;
            }
        }
    }

    /// The data may have been moved: what was opened is then a copy that nobody looks at.
    async fn follow_the_data(&mut self) {
        if !self.app.has_moved() {
            return;
        }
        match self.move_along().await {
            Ok(Some(first)) => {
                self.first = first;
                let folder = self.app.paths.data.display().to_string();
                said::say(format_args!(
                    "The data was moved to {folder}; the app goes on there."
                ));
                let body = self.words.fill("notice_moved_body", &[("folder", &folder)]);
                self.card(Card::saying(self.words.say("notice_moved"), body));
            }
            // Another app has its place there, and shows its window.
            Ok(None) => {
                let _ = self.orders.send(Order::Quit);
            }
            // It is tried again at the next look.
            Err(problem) => said::say_problem(&problem),
        }
    }

    async fn move_along(&mut self) -> Result<Option<First>, Problem> {
        let paths = surroundings::paths()?;
        let Claim::First(first) = instance::claim(&paths, None, &self.orders).await? else {
            return Ok(None);
        };
        self.app = self.app.followed()?;
        said::log_in(&self.app.paths);
        // It looks there, too.
        self.supervisor.poke();
        self.say_recovered();
        Ok(Some(first))
    }

    /// Says what the last start left unfinished and this one took back.
    fn say_recovered(&mut self) {
        for recovered in std::mem::take(&mut self.app.recovered) {
            for sentence in recovered.sentences() {
                said::say(sentence);
            }
            let mut card = Card::saying(
                self.words.say("notice_recovered"),
                self.words.say("notice_recovered_body"),
            );
            card.buttons = vec![(
                self.words.say("review"),
                Order::Open(Place::Review(Some(recovered.proposal))),
            )];
            self.card(card);
        }
    }

    /// What a start opens unasked: the first steps for somebody new, the overview where nothing shows a
    /// tray; otherwise nothing.
    async fn first_place(&self, quietly: bool) -> Option<Place> {
        if quietly {
            return None;
        }
        let projects = commands::execute(&self.app, Command::ProjectList(Nothing {})).await;
        if let Ok(Output::ProjectList(rows)) = projects
            && rows.is_empty()
        {
            return Some(Place::FirstRun);
        }
        let shown = self
            .tray
            .as_ref()
            .is_some_and(|tray| *tray.is_shown().borrow());
        (!shown).then_some(Place::Overview)
    }

    async fn show(&mut self, state: &SupervisorState) {
        // A store that cannot be read is the supervisor's trouble, which stands in the face.
        if let Ok(waiting) = notices::waiting(&self.app) {
            self.waiting = waiting;
        }
        // Settings that cannot be read are as well; what they said before stays.
        let mut panel = None;
        if let Ok(resolved) = self.app.settings(None) {
            self.words = Words::chosen(resolved.settings.language);
            panel = Some(resolved.settings.tray_icon);
        }
        let now = ZonedDateTime::now();
        self.tell(state, &now);
        if let Some(tray) = &self.tray {
            let face = Face::of(state, &self.waiting, self.mute, &self.words, &now);
            tray.change(face, panel).await;
        }
    }

    fn tell(&mut self, state: &SupervisorState, now: &ZonedDateTime) {
        if !self.cards.may_tell() {
            return;
        }
        let due = notices::to_be_told(
            &self.app,
            state,
            &self.waiting,
            self.nothing_shows_it,
            &self.unwritten,
            now.datetime(),
        );
        for notice in due {
            self.cards.tell(notice, &self.words);
        }
    }

    /// Remembers what was shown. What could not be shown is in the menu, and is tried again later.
    fn note(&mut self, shown: Shown) {
        let was_mute = std::mem::replace(&mut self.mute, shown.result.is_err());
        match (shown.result, shown.notice) {
            (Ok(()), Some(notice)) => {
                let today = ZonedDateTime::now().date();
                if let Err(problem) = notices::remember(&self.app, &notice, today) {
                    said::say_problem(&problem);
                    self.unwritten.add(&notice, today);
                }
            }
            (Err(error), _) if !was_mute => {
                said::say(format_args!("No notification can be shown: {error}."));
            }
            (Ok(()), None) | (Err(_), _) => {}
        }
    }

    fn card(&self, card: Card) {
        self.cards.show(card, &self.words);
    }
}

/// Reports whether nothing shows the tray; when it goes, something has some time to come back.
async fn look_for_who_shows_it(mut shown: watch::Receiver<bool>, report: watch::Sender<bool>) {
    loop {
        let missing = !*shown.borrow_and_update();
        let changed = if missing && !*report.borrow() {
            match tokio::time::timeout(DESKTOP_STARTS, shown.changed()).await {
                Ok(changed) => changed,
                Err(_) => {
                    report.send_replace(true);
                    continue;
                }
            }
        } else {
            report.send_if_modified(|known| std::mem::replace(known, missing) != missing);
            shown.changed().await
        };
        if changed.is_err() {
            return;
        }
    }
}
