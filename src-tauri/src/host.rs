//! The process of the tray: it keeps the schedule, shows the icon, tells what has to be told, and opens
//! windows in a process of their own.

mod orders;
mod stuck;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use jiff::ZonedDateTime;
use skillopt_app::commands::{self, Command, Output};
use skillopt_app::context::App;
use skillopt_app::notices::{self, WaitingProposal};
use skillopt_app::supervisor::{Handle, Launch, Supervisor, SupervisorState};
use skillopt_app::{Nothing, Problem};
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::watch;

use crate::display::Display;
use crate::instance::{self, Claim, First};
use crate::menu::{Face, Order};
use crate::notify::Card;
use crate::opened::Windows;
use crate::place::Place;
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
            eprintln!("The app cannot start: {error}.\nTry again.\n(runtime_failed)");
            return ExitCode::from(1);
        }
    };
    runtime.block_on(async {
        match start(open, quietly).await {
            Ok(code) => code,
            Err(problem) => {
                print(&problem);
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

fn print(problem: &Problem) {
    eprintln!(
        "{}\n{}\n({})",
        problem.message, problem.guidance, problem.code
    );
}

async fn start(open: Option<Place>, quietly: bool) -> Result<ExitCode, Problem> {
    let paths = surroundings::paths()?;
    let claim = instance::claim(&paths.locks(), open.as_ref()).map_err(|error| {
        Problem::temporary(
            "desktop_busy",
            format!(
                "The app that is running does not answer, or its lock cannot be made: {error}."
            ),
            "Quit it from its menu, or end the process skillopt-desktop, and start it again.",
        )
    })?;
    let Claim::First(first) = claim else {
        return Ok(ExitCode::SUCCESS);
    };
    let program = std::env::current_exe().map_err(|error| {
        Problem::permanent(
            "desktop_program_unknown",
            format!("The app cannot find its own program: {error}."),
            "Start it by its full path.",
        )
    })?;
    let (orders, given) = mpsc::unbounded_channel();
    let windows = Windows::of(program.clone(), orders.clone());
    let app = match surroundings::app() {
        Ok(app) => app,
        Err(problem) => {
            print(&problem);
            stuck::show(&problem, first, windows, orders, given).await;
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
        orders,
        tray: None,
        nothing_shows_it: false,
        mute: false,
        waiting: Vec::new(),
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
    orders: UnboundedSender<Order>,
    tray: Option<Tray>,
    /// Nothing on this desktop shows trays, and it has had its time to start.
    nothing_shows_it: bool,
    /// The last notification could not be shown.
    mute: bool,
    waiting: Vec<WaitingProposal>,
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
            Err(error) => eprintln!("No tray icon can be shown: {error}."),
        }
        let (report, mut missing) = watch::channel(false);
        if let Some(tray) = &self.tray {
            tokio::spawn(look_for_who_shows_it(tray.is_shown(), report.clone()));
        }
        if !Display::here().is_there() {
            eprintln!(
                "There is no display, so no window can be opened; the nights go on.\nUse `skillopt`, which needs none.\n(no_display)"
            );
        }
        self.say_recovered().await;
        let place = match open {
            Some(place) => Some(place),
            None => self.first_place(quietly).await,
        };
        if let Some(place) = place {
            self.carry_out(Order::Open(place)).await;
        }
        let mut state = self.supervisor.state();
        let mut end = std::pin::pin!(surroundings::told_to_end());
        loop {
            let now = state.borrow_and_update().clone();
            self.show(&now).await;
            tokio::select! {
                () = &mut end => break,
                changed = state.changed() => if changed.is_err() { break },
                (place, display) = self.first.asked() => {
                    // A start from nowhere, for example by ssh, means where the tray is.
                    let display = if display.is_there() { display } else { Display::here() };
                    let opened = self.windows.open(&place, display).await;
                    if let Err(problem) = opened {
                        self.say_problem(&problem).await;
                    }
                }
                Some(order) = given.recv() => {
                    if order == Order::Quit {
                        break;
                    }
                    self.carry_out(order).await;
                }
                _ = missing.changed() => self.nothing_shows_it = *missing.borrow_and_update(),
                () = tokio::time::sleep(REFRESH) => {}
            }
        }
        self.windows.close().await;
        let mut ending = std::pin::pin!(self.supervisor.shutdown());
        tokio::select! {
            () = &mut ending => {}
            () = surroundings::told_again() => {
                self.supervisor.hurry();
                ending.await;
            }
        }
    }

    /// Says what the last start left unfinished and this one took back.
    async fn say_recovered(&mut self) {
        for recovered in std::mem::take(&mut self.app.recovered) {
            let proposal = &recovered.proposal;
            eprintln!("An adoption of {proposal} that was cut short was taken back.");
            for path in &recovered.left {
                eprintln!(
                    "{} was changed meanwhile and was left as it is.",
                    path.display()
                );
            }
            let mut card = Card::saying(
                self.words.say("notice_recovered"),
                self.words.say("notice_recovered_body"),
            );
            card.buttons = vec![(
                self.words.say("review"),
                Order::Open(Place::Review(Some(proposal.clone()))),
            )];
            self.card(card).await;
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
        match notices::waiting(&self.app) {
            Ok(waiting) => self.waiting = waiting,
            Err(problem) => eprintln!("{problem}"),
        }
        // Settings that cannot be read are told of elsewhere; the words stay.
        if let Ok(resolved) = self.app.settings(None) {
            self.words = Words::chosen(resolved.settings.language);
        }
        let now = ZonedDateTime::now();
        if let Err(problem) = self.tell(state, &now).await {
            eprintln!("{problem}");
        }
        if let Some(tray) = &self.tray {
            let face = Face::of(state, &self.waiting, self.mute, &self.words, &now);
            tray.change(face).await;
        }
    }

    async fn tell(&mut self, state: &SupervisorState, now: &ZonedDateTime) -> Result<(), Problem> {
        let due = notices::to_be_told(
            &self.app,
            state,
            &self.waiting,
            self.nothing_shows_it,
            now.datetime(),
        )?;
        for notice in due {
            // What could not be shown is in the menu, and is not tried again today.
            notices::remember(&self.app, std::slice::from_ref(&notice), now.date())?;
            self.card(Card::of(&notice, &self.words)).await;
        }
        Ok(())
    }

    async fn card(&mut self, card: Card) {
        let shown = card.show(self.orders.clone(), &self.words).await;
        self.mute = shown.is_err();
        if let Err(error) = shown {
            eprintln!("No notification can be shown: {error}.");
        }
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
