//! Carrying out what the user asks for from tray and notifications.

use skillopt_app::Problem;
use skillopt_app::commands::{self, Command};
use skillopt_app::notices::{self, Decided, WaitingProposal};
use skillopt_app::proposal::{AdoptInput, RejectInput, RollbackInput};
use skillopt_app::reopen::ReopenInput;
use skillopt_app::supervisor::order;

use super::Host;
use crate::display::Display;
use crate::menu::{self, Order};
use crate::notify::Card;
use crate::place::Place;
use crate::said;

impl Host {
    pub(super) async fn carry_out(&mut self, order: Order) {
        let done = match order {
            Order::Open(place) => self.windows.open(&place, Display::here()).await,
            Order::OpenOn(place, display) => self.windows.open(&place, display.or_here()).await,
            Order::Adopt(nonce) => self.adopt(&nonce).await,
            Order::Reject(nonce) => self.reject(&nonce).await,
            Order::TakeBack(nonce) => self.take_back(&nonce).await,
            Order::Reopen(nonce) => self.reopen(&nonce).await,
            Order::RunNow(project) => order::run_now(&self.app, &project),
            Order::Stop(project) => self.supervisor.cancel(&self.app, &project).map(drop),
            Order::Pause(until) => {
                let pause =
                    order::pause_of(until, self.app.clock.now(), &jiff::tz::TimeZone::system());
                pause.and_then(|pause| order::pause(&self.app, pause))
            }
            Order::Resume => order::resume(&self.app).map(drop),
            Order::Say(problem) => Err(problem),
            // Ends the loop before it comes here.
            Order::Quit => Ok(()),
        };
        if let Err(problem) = done {
            said::say_problem(&problem);
            self.card(Card::of_problem(&problem, &self.words));
        }
        self.supervisor.poke();
    }

    fn say_stale(&self) {
        self.card(Card::saying(
            self.words.say("notice_stale"),
            self.words.say("notice_stale_body"),
        ));
    }

    /// The proposal a button was about; a card says so when it no longer waits.
    fn still_waiting(&self, nonce: &str) -> Result<Option<WaitingProposal>, Problem> {
        let found = notices::by_nonce(&self.app, nonce)?;
        if found.is_none() {
            self.say_stale();
        }
        Ok(found)
    }

    async fn adopt(&mut self, nonce: &str) -> Result<(), Problem> {
        let Some(proposal) = self.still_waiting(nonce)? else {
            return Ok(());
        };
        if !proposal.is_ready() {
            let place = Place::Review(Some(proposal.id));
            return self.windows.open(&place, Display::here()).await;
        }
        let input = AdoptInput {
            id: Some(proposal.id.clone()),
            ..AdoptInput::default()
        };
        commands::execute(&self.app, Command::ProposalAdopt(input)).await?;
        let back = Order::TakeBack(proposal.nonce.clone());
        self.say_decided("notice_adopted", proposal, back);
        Ok(())
    }

    async fn reject(&self, nonce: &str) -> Result<(), Problem> {
        let Some(proposal) = self.still_waiting(nonce)? else {
            return Ok(());
        };
        let input = RejectInput {
            id: Some(proposal.id.clone()),
            ..RejectInput::default()
        };
        commands::execute(&self.app, Command::ProposalReject(input)).await?;
        let back = Order::Reopen(proposal.nonce.clone());
        self.say_decided("notice_rejected", proposal, back);
        Ok(())
    }

    fn say_decided(&self, title: &str, proposal: WaitingProposal, back: Order) {
        let mut card = Card::saying(
            self.words.say(title),
            menu::documents(&proposal, &self.words),
        );
        card.buttons = vec![
            (
                self.words.say("review"),
                Order::Open(Place::Review(Some(proposal.id))),
            ),
            (self.words.say("undo"), back),
        ];
        self.card(card);
    }

    async fn take_back(&self, nonce: &str) -> Result<(), Problem> {
        match notices::decided(&self.app, nonce)? {
            Some(Decided::Adopted(id)) => {
                let input = RollbackInput {
                    id: Some(id),
                    ..RollbackInput::default()
                };
                self.undo(Command::Rollback(input), "notice_taken_back")
                    .await
            }
            Some(Decided::Rejected(_)) | None => {
                self.say_stale();
                Ok(())
            }
        }
    }

    async fn reopen(&self, nonce: &str) -> Result<(), Problem> {
        match notices::decided(&self.app, nonce)? {
            Some(Decided::Rejected(id)) => {
                let command = Command::ProposalReopen(ReopenInput { id });
                self.undo(command, "notice_waits_again").await
            }
            Some(Decided::Adopted(_)) | None => {
                self.say_stale();
                Ok(())
            }
        }
    }

    async fn undo(&self, command: Command, title: &str) -> Result<(), Problem> {
        commands::execute(&self.app, command).await?;
        let card = Card::saying(self.words.say(title), String::new());
        self.card(card);
        Ok(())
    }
}
