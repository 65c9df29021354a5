//! The process of the tray: it keeps the schedule, shows the icon, tells what has to be told, and opens
//! windows in a process of their own.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use jiff::ZonedDateTime;
use skillopt_app::commands::{self, Command, Output};
use skillopt_app::context::App;
use skillopt_app::notices::{self, WaitingProposal};
use skillopt_app::proposal::{AdoptInput, RejectInput, RollbackInput};
use skillopt_app::supervisor::{Handle, Launch, Supervisor, SupervisorState, order};
use skillopt_app::{Nothing, Problem};
use tokio::sync::mpsc::{self, UnboundedSender};

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
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => {
                eprintln!(
                    "{}\n{}\n({})",
                    problem.message, problem.guidance, problem.code
                );
                let words = Words::of_the_session();
                let (orders, _) = mpsc::unbounded_channel();
                let body = format!("{} {}", problem.message, problem.guidance);
                // The terminal has it already, if there is one.
                let _ = Card::saying(words.say("notice_failed"), body)
                    .show(orders)
                    .await;
                ExitCode::from(1)
            }
        }
    })
}

async fn start(open: Option<Place>, quietly: bool) -> Result<(), Problem> {
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
        return Ok(());
    };
    let app = surroundings::app()?;
    let program = std::env::current_exe().map_err(|error| {
        Problem::permanent(
            "desktop_program_unknown",
            format!("The app cannot find its own program: {error}."),
            "Start it by its full path.",
        )
    })?;
    let launch = Launch {
        program: program.clone(),
        arguments: vec![OsString::from("night")],
    };
    let supervisor = Supervisor::start(app.clone(), launch);
    let (orders, given) = mpsc::unbounded_channel();
    let host = Host {
        app,
        supervisor,
        words: Words::of_the_session(),
        windows: Windows::of(program),
        orders,
        tray: None,
        waiting: Vec::new(),
        first,
    };
    host.live(given, open, quietly).await;
    Ok(())
}

struct Host {
    app: App,
    supervisor: Handle,
    words: Words,
    windows: Windows,
    orders: UnboundedSender<Order>,
    tray: Option<Tray>,
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
        let place = match open {
            Some(place) => Some(place),
            None => self.first_place(quietly).await,
        };
        if let Some(place) = place {
            self.windows.open(&place);
        }
        let mut state = self.supervisor.state();
        let mut end = std::pin::pin!(surroundings::told_to_end());
        loop {
            let now = state.borrow_and_update().clone();
            self.show(&now).await;
            tokio::select! {
                () = &mut end => break,
                changed = state.changed() => if changed.is_err() { break },
                place = self.first.asked() => self.windows.open(&place),
                Some(order) = given.recv() => {
                    if order == Order::Quit {
                        break;
                    }
                    self.carry_out(order).await;
                }
                () = tokio::time::sleep(REFRESH) => {}
            }
        }
        self.windows.close();
        self.supervisor.shutdown().await;
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
        self.tray.is_none().then_some(Place::Overview)
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
        if let Some(tray) = &self.tray {
            tray.change(Face::of(state, &self.waiting, &self.words, &now))
                .await;
        }
        if let Err(problem) = self.tell(state, &now).await {
            eprintln!("{problem}");
        }
    }

    async fn tell(&self, state: &SupervisorState, now: &ZonedDateTime) -> Result<(), Problem> {
        for notice in notices::to_be_told(&self.app, state, &self.waiting, now.datetime())? {
            // What could not be shown is in the menu, and is not tried again today.
            notices::remember(&self.app, std::slice::from_ref(&notice), now.date())?;
            self.card(Card::of(&notice, &self.words)).await;
        }
        Ok(())
    }

    async fn card(&self, card: Card) {
        if let Err(error) = card.show(self.orders.clone()).await {
            eprintln!("No notification can be shown: {error}.");
        }
    }

    async fn carry_out(&mut self, order: Order) {
        let done = match order {
            Order::Open(place) => {
                self.windows.open(&place);
                Ok(())
            }
            Order::Adopt(nonce) => self.adopt(&nonce).await,
            Order::Reject(nonce) => self.reject(&nonce).await,
            Order::TakeBack(proposal) => self.take_back(proposal).await,
            Order::RunNow(project) => self.supervisor.run_now(&project),
            Order::Stop(project) => self
                .supervisor
                .cancel(&order::Target::Project(project))
                .map(drop),
            Order::Pause(until) => {
                let pause =
                    order::pause_of(until, self.app.clock.now(), &jiff::tz::TimeZone::system());
                pause.and_then(|pause| self.supervisor.pause(pause))
            }
            Order::Resume => self.supervisor.resume().map(drop),
            // Ends the loop before it comes here.
            Order::Quit => Ok(()),
        };
        if let Err(problem) = done {
            let body = format!("{} {}", problem.message, problem.guidance);
            self.card(Card::saying(self.words.say("notice_failed"), body))
                .await;
        }
        self.supervisor.poke();
    }

    /// The proposal a button was about; a card says so when it no longer waits.
    async fn still_waiting(&self, nonce: &str) -> Result<Option<WaitingProposal>, Problem> {
        let found = notices::by_nonce(&self.app, nonce)?;
        if found.is_none() {
            let (title, body) = (
                self.words.say("notice_stale"),
                self.words.say("notice_stale_body"),
            );
            self.card(Card::saying(title, body)).await;
        }
        Ok(found)
    }

    async fn adopt(&mut self, nonce: &str) -> Result<(), Problem> {
        let Some(proposal) = self.still_waiting(nonce).await? else {
            return Ok(());
        };
        if !proposal.unflagged {
            self.windows.open(&Place::Review(Some(proposal.id)));
            return Ok(());
        }
        let input = AdoptInput {
            id: Some(proposal.id.clone()),
            ..AdoptInput::default()
        };
        commands::execute(&self.app, Command::ProposalAdopt(input)).await?;
        let body = crate::menu::documents(&proposal, &self.words);
        let mut card = Card::saying(self.words.say("notice_adopted"), body);
        card.buttons = vec![
            (
                self.words.say("review"),
                Order::Open(Place::Review(Some(proposal.id.clone()))),
            ),
            (self.words.say("undo"), Order::TakeBack(proposal.id)),
        ];
        self.card(card).await;
        Ok(())
    }

    async fn reject(&mut self, nonce: &str) -> Result<(), Problem> {
        let Some(proposal) = self.still_waiting(nonce).await? else {
            return Ok(());
        };
        let input = RejectInput {
            id: Some(proposal.id.clone()),
            ..RejectInput::default()
        };
        commands::execute(&self.app, Command::ProposalReject(input)).await?;
        let body = crate::menu::documents(&proposal, &self.words);
        self.card(Card::saying(self.words.say("notice_rejected"), body))
            .await;
        Ok(())
    }

    async fn take_back(&mut self, proposal: String) -> Result<(), Problem> {
        let input = RollbackInput {
            id: Some(proposal),
            ..RollbackInput::default()
        };
        commands::execute(&self.app, Command::Rollback(input)).await?;
        self.card(Card::saying(
            self.words.say("notice_taken_back"),
            String::new(),
        ))
        .await;
        Ok(())
    }
}
