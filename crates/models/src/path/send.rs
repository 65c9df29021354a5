//! Sending a call: budget, limiter, tries, and a row for each of them.

use std::time::Duration;

use serde_json::json;
use skillopt_core::Instant;
use skillopt_core::call::Call;
use skillopt_store::attempts;
use skillopt_store::calls::{self, NightCall, State};
use skillopt_store::{events, orders, pauses};

use super::CallEvent;
use super::account::{used, worst};
use super::renewal;
use super::reserve;
use super::run::{Heard, Run, Stop};
use super::stop::UnderWay;
use crate::backend::{Backend, Finish, RawReply};
use crate::budget::Reservation;
use crate::error::{CallError, Cap, Wait};
use crate::price::Price;
use skillopt_core::reply::{Expect, LONGEST_REPLY, Unreadable, parse};

/// How long a backend has to end what was dropped, before its future is.
const END: Duration = Duration::from_secs(5);
/// The pause of a provider that does not say when it allows more.
pub(super) const UNKNOWN_RESET: Duration = Duration::from_secs(3600);
/// The pause of a provider that goes on asking to wait.
const TOO_MANY: Duration = Duration::from_secs(60);
/// The longest pause of a provider that is only busy; what it asks for beyond is not believed.
const LONGEST_RATE_PAUSE: Duration = Duration::from_secs(3600);
/// The longest pause of a plan that is believed; weekly limits are the longest there are.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(32 * 24 * 3600);

impl Run {
    /// Asks `backend` within budget and limits, as often as it is worth it.
    pub(super) async fn send(
        &self,
        backend: &dyn Backend,
        at: &NightCall,
        call: &Call,
    ) -> Result<Heard, Stop> {
        let provider = backend.provider();
        let retry = &self.path.options.retry;
        // The place comes first: while a call waits for one, it must not sit on a reservation.
        let place = self
            .path
            .options
            .limits
            .place(&provider, &self.stop)
            .await?;
        let price = self.price(backend)?;
        let mut made = 0;
        let mut began = None;
        loop {
            // So does the turn of a sign-in: what waits for one has not been asked.
            let turn = self.turn(backend).await?;
            self.may_start(&provider)?;
            self.enough_room()?;
            place.ready(&self.stop).await?;
            let reservation = self.reserve(backend, call, price).await?;
            let attempt = match self.start(backend, at, reservation.as_ref()).await? {
                Ok(attempt) => attempt,
                Err(error) => {
                    if let Some(reservation) = reservation {
                        reservation.unsent();
                    }
                    return Err(Stop::Call(error));
                }
            };
            made += 1;
            // What it waited for before that is not its own time.
            let began = *began.get_or_insert_with(tokio::time::Instant::now);
            self.path.tell(&CallEvent::Sent {
                stage: self.stage.clone(),
                position: at.position,
                made,
            });
            let error = match self.one_try(backend, call).await {
                Ok(raw) => {
                    self.count_answer(&provider);
                    if let Some(turn) = turn {
                        turn.answered();
                    }
                    let allowance = raw.allowance;
                    let price = self.path.options.prices.of_reply(backend, &raw.model);
                    let heard = self
                        .record(at, call, attempt, raw, reservation, price)
                        .await?;
                    self.keep_reserve(backend, &provider, &place, allowance)?;
                    return Ok(heard);
                }
                // Providers quote what they were sent.
                Err(error) => {
                    drop(turn);
                    error.map_detail(|detail| self.path.redacted(detail))
                }
            };
            let wait = retry.wait(&error, &at.key, made, began.elapsed());
            let error = self
                .record_failure(backend, at, attempt, error, reservation, wait.is_none())
                .await?;
            let wait = match backend.recording() {
                Some(_) => wait.map(|_| Duration::ZERO),
                None => wait,
            };
            let Some(wait) = wait else {
                return Err(self.give_up(&provider, error));
            };
            self.path.tell(&CallEvent::Again {
                stage: self.stage.clone(),
                position: at.position,
                wait,
                error: error.clone(),
            });
            if matches!(error, CallError::RateLimited { .. }) {
                // Everybody waits, this call included.
                place.slow_down(wait);
            } else {
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => {}
                    () = tokio::time::sleep(wait) => {}
                }
            }
        }
    }

    /// The right to make a try that may renew a sign-in; `None` where none is renewed.
    async fn turn(&self, backend: &dyn Backend) -> Result<Option<renewal::Turn>, CallError> {
        let Some(sign_in) = backend.renews() else {
            return Ok(None);
        };
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(CallError::Cancelled),
            turn = renewal::Turn::wait(sign_in, self.path.store.locks()) => Ok(Some(turn)),
        }
    }

    /// What the model costs. The table that comes with the program has a price for every model; without
    /// any table nothing is spent when money is limited.
    fn price(&self, backend: &dyn Backend) -> Result<Option<Price>, Stop> {
        let price = self.path.options.prices.of(backend);
        let price = price.map(|(price, _)| price);
        if backend.paid() && price.is_none() && self.budget.caps().cost_micros.is_some() {
            return Err(self.stop_night(CallError::BudgetExhausted { cap: Cap::Cost }));
        }
        Ok(price)
    }

    async fn reserve(
        &self,
        backend: &dyn Backend,
        call: &Call,
        price: Option<Price>,
    ) -> Result<Option<Reservation>, Stop> {
        if !backend.paid() {
            return Ok(None);
        }
        match self.budget.reserve(worst(backend, call, price)).await {
            Ok(reservation) => Ok(Some(reservation)),
            Err(error) => Err(self.stop_night(error)),
        }
    }

    /// Writes down that a try begins, unless the night was told to stop or the provider is paused.
    async fn start(
        &self,
        backend: &dyn Backend,
        at: &NightCall,
        reservation: Option<&Reservation>,
    ) -> Result<Result<i64, CallError>, Stop> {
        let provider = &backend.provider();
        let reserved = reservation.map(Reservation::worst).unwrap_or_default();
        let begun = self.keep("start try", |tx| {
            if orders::pending(tx, self.night)?.is_some() {
                return Ok(Err(CallError::Cancelled));
            }
            if backend.recording().is_none()
                && let Some(pause) = pauses::active(tx, provider, tx.now())?
            {
                if let Some(left_percent) = reserve::left(&pause.reason) {
                    // The user may want to keep less by now.
                    if left_percent >= self.path.options.reserve_percent {
                        return attempts::start(tx, self.night, &at.key, reserved).map(Ok);
                    }
                    return Ok(Err(CallError::QuotaReserved {
                        provider: provider.to_owned(),
                        left_percent,
                        until: Some(pause.until),
                    }));
                }
                return Ok(Err(CallError::QuotaExhausted {
                    provider: provider.to_owned(),
                    until: Some(pause.until),
                    detail: pause.reason,
                }));
            }
            attempts::start(tx, self.night, &at.key, reserved).map(Ok)
        });
        let begun = begun.await?;
        match &begun {
            Err(CallError::Cancelled) => {
                self.stop_night(CallError::Cancelled);
            }
            Err(error) => self.stop_provider(provider, error.clone()),
            Ok(_) => {}
        }
        Ok(begun)
    }

    /// One try, within its time and the night's.
    async fn one_try(&self, backend: &dyn Backend, call: &Call) -> Result<RawReply, CallError> {
        let limit = self.path.options.try_timeout;
        let end = self.end().filter(|(left, _)| *left < limit);
        let within = end.as_ref().map_or(limit, |(left, _)| *left);
        let _counted = UnderWay::count(&self.under_way);
        let stopped = async {
            self.stop.dropped().await;
            tokio::time::sleep(END).await;
        };
        tokio::select! {
            asked = tokio::time::timeout(within, backend.ask(call, &self.stop)) => asked.unwrap_or_else(|_| {
                Err(end.map_or(CallError::TimedOut { wait: Wait::Whole, after: limit }, |(_, why)| why))
            }),
            () = stopped => Err(CallError::Cancelled),
        }
    }

    /// Writes down a reply; with it what follows up on it.
    async fn record(
        &self,
        at: &NightCall,
        call: &Call,
        attempt: i64,
        raw: RawReply,
        reservation: Option<Reservation>,
        price: Option<Price>,
    ) -> Result<Heard, Stop> {
        let RawReply {
            mut text,
            usage,
            model,
            finish,
            request_thousandths,
            allowance: _,
        } = raw;
        if text.len() > LONGEST_REPLY {
            // Still too long to be read, and no longer too long to be kept.
            let end =
                (LONGEST_REPLY + 1..=LONGEST_REPLY + 4).find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or(text.len()));
        }
        let text = self.path.reply_without_secrets(call, text);
        let model = self.path.redacted(&model);
        let mut parsed = parse(&Expect::of(&call.subject), &text);
        if let (Err(Unreadable(reason)), Finish::Length) = (&mut parsed, finish) {
            reason.push_str(" (it was cut at the token limit)");
        }
        let reserved = reservation
            .as_ref()
            .map(Reservation::worst)
            .unwrap_or_default();
        let used = used(usage, reserved, price);
        let next = self.follow_up(call, &text, &parsed);
        let asked = &call.backend.model;
        let side = call.subject.side();
        let other_model = self.first_answer_by(side, asked, &model);
        self.keep("record reply", |tx| {
            attempts::answer(tx, attempt, &text, used.usage, used.cost_micros)?;
            if request_thousandths > 0 {
                attempts::bill_requests(tx, self.night, &self.stage, attempt, request_thousandths)?;
            }
            self.settle(tx, at, State::Fresh, Some(attempt))?;
            if let Some(next) = &next {
                calls::plan_follow_up(tx, self.night, &self.stage, at.position, next)?;
            }
            if other_model {
                events::append(
                    tx,
                    self.night,
                    "models/answered_by",
                    &json!({"side": side, "asked": asked, "answered": model}),
                )?;
            }
            Ok(())
        })
        .await?;
        if let Some(reservation) = reservation {
            reservation.settle(used.cost);
        }
        Ok(Heard {
            attempt,
            text,
            usage,
            fresh: true,
            parsed,
        })
    }

    /// Writes down a failed try; with it, when it was the last one, the end of the row and the pause
    /// of the provider. Gives the error with what is known about its end.
    async fn record_failure(
        &self,
        backend: &dyn Backend,
        at: &NightCall,
        attempt: i64,
        error: CallError,
        reservation: Option<Reservation>,
        last: bool,
    ) -> Result<CallError, Stop> {
        let provider = &backend.provider();
        let (error, pause) = if last && backend.recording().is_none() {
            self.with_pause(error)
        } else {
            (error, None)
        };
        let detail = json!({"code": error.code(), "message": error.to_string()});
        let whole = json!({"code": error.code(), "message": error.to_string(), "error": error});
        // A try that had begun is only out of budget when the night's time ended under it.
        let out_of_time = matches!(
            error,
            CallError::BudgetExhausted { .. } | CallError::FinishTime { .. }
        );
        let may_have_cost = reservation.is_some() && (error.may_have_cost() || out_of_time);
        let billed = backend.billed_failing(&at.key);
        let written = self.keep("record failed try", |tx| {
            if may_have_cost {
                attempts::lose(tx, attempt, error.code(), &whole)?;
            } else {
                attempts::fail(tx, attempt, error.code(), &whole)?;
            }
            if billed > 0 {
                attempts::bill_requests(tx, self.night, &self.stage, attempt, billed)?;
            }
            if last {
                self.settle(tx, at, State::Failed, Some(attempt))?;
            }
            if let Some(until) = pause {
                pauses::set(tx, provider, until, error.code())?;
                events::append(
                    tx,
                    self.night,
                    "models/paused",
                    &json!({"provider": provider, "error": detail}),
                )?;
            }
            Ok(())
        });
        written.await?;
        if let Some(reservation) = reservation {
            if may_have_cost {
                drop(reservation);
            } else {
                reservation.settle(attempts::Cost::default());
            }
        }
        if let Some(until) = pause {
            self.path.tell(&CallEvent::Paused {
                provider: provider.to_owned(),
                until,
            });
        }
        Ok(error)
    }

    /// Until when an error pauses its provider. A quota error then says so itself.
    fn with_pause(&self, error: CallError) -> (CallError, Option<Instant>) {
        let now = self.path.store.clock().now();
        let after = |wait: Duration| now.saturating_add(wait.min(LONGEST_PAUSE)).unwrap_or(now);
        match error {
            CallError::QuotaExhausted {
                provider,
                until,
                detail,
            } => {
                let until = until.map_or_else(
                    || after(UNKNOWN_RESET),
                    |until| until.clamp(after(TOO_MANY), after(LONGEST_PAUSE)),
                );
                (
                    CallError::QuotaExhausted {
                        provider,
                        until: Some(until),
                        detail,
                    },
                    Some(until),
                )
            }
            CallError::RateLimited { retry_after, .. } => {
                let until = after(retry_after.unwrap_or(TOO_MANY).min(LONGEST_RATE_PAUSE));
                (error, Some(until))
            }
            error => (error, None),
        }
    }

    /// What the last error of a call means for others.
    fn give_up(&self, provider: &str, error: CallError) -> Stop {
        match &error {
            CallError::BudgetExhausted { .. }
            | CallError::FinishTime { .. }
            | CallError::DiskFull { .. }
            | CallError::Cancelled => {
                return self.stop_night(error);
            }
            CallError::Unavailable { .. } | CallError::TimedOut { .. } => {
                self.count_failure(provider, &error);
            }
            CallError::SignInNeeded { .. }
            | CallError::QuotaExhausted { .. }
            | CallError::QuotaReserved { .. }
            | CallError::Misconfigured { .. } => {
                self.stop_provider(provider, error.clone());
            }
            CallError::RateLimited {
                retry_after,
                detail,
                ..
            } => {
                let until = self
                    .path
                    .store
                    .clock()
                    .now()
                    .saturating_add(retry_after.unwrap_or(TOO_MANY).min(LONGEST_RATE_PAUSE));
                self.stop_provider(
                    provider,
                    CallError::QuotaExhausted {
                        provider: provider.to_owned(),
                        until: until.ok(),
                        detail: detail.clone(),
                    },
                );
            }
            CallError::Unreadable { .. }
            | CallError::Refused { .. }
            | CallError::ContextOverflow { .. }
            | CallError::WaitingForAnswer { .. } => self.count_answer(provider),
        }
        Stop::Call(error)
    }
}
