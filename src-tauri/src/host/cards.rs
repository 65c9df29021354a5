//! Notifications, shown one after the other beside the loop of the tray: their server answers when it
//! likes, or never.

use std::time::Duration;

use skillopt_app::notices::Notice;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

use crate::menu::Order;
use crate::notify::Card;
use crate::words::Words;

/// How long what could not be shown is kept back at first, and at most.
const PAUSES: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(60 * 60));

/// What became of a card.
pub(super) struct Shown {
    /// The notice it told of, if it was one.
    pub(super) notice: Option<Notice>,
    /// Why it could not be shown.
    pub(super) result: Result<(), String>,
}

struct Due {
    card: Card,
    words: Words,
    notice: Option<Notice>,
}

/// The cards of this tray.
pub(super) struct Cards {
    queue: UnboundedSender<Due>,
    shown: UnboundedReceiver<Shown>,
    /// Notices on their way.
    telling: usize,
    /// No notice is told before.
    not_before: Instant,
    pause: Duration,
}

impl Cards {
    /// Shows what is given from now on; a pressed button goes to `orders`.
    pub(super) fn start(orders: UnboundedSender<Order>) -> Self {
        let (queue, mut due) = mpsc::unbounded_channel::<Due>();
        let (tell, shown) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(Due {
                card,
                words,
                notice,
            }) = due.recv().await
            {
                let result = card.show(orders.clone(), &words).await;
                if tell.send(Shown { notice, result }).is_err() {
                    return;
                }
            }
        });
        Self {
            queue,
            shown,
            telling: 0,
            not_before: Instant::now(),
            pause: PAUSES.0,
        }
    }

    /// Shows an answer to something the user did.
    pub(super) fn show(&self, card: Card, words: &Words) {
        self.add(card, words, None);
    }

    /// Whether notices may be told: none is on its way, and the last one could be shown, or some time has
    /// gone since.
    pub(super) fn may_tell(&self) -> bool {
        self.telling == 0 && Instant::now() >= self.not_before
    }

    /// How long nothing is told, if that is so because the last one could not be shown.
    pub(super) fn kept_back(&self) -> Option<Duration> {
        let left = self.not_before.saturating_duration_since(Instant::now());
        (self.telling == 0 && !left.is_zero()).then_some(left)
    }

    /// Tells a notice.
    pub(super) fn tell(&mut self, notice: Notice, words: &Words) {
        self.telling += 1;
        self.add(Card::of(&notice, words), words, Some(notice));
    }

    fn add(&self, card: Card, words: &Words, notice: Option<Notice>) {
        // The task ends with this value.
        let _ = self.queue.send(Due {
            card,
            words: words.clone(),
            notice,
        });
    }

    /// The next card that was shown, or could not be.
    pub(super) async fn next(&mut self) -> Shown {
        let Some(shown) = self.shown.recv().await else {
            return std::future::pending().await;
        };
        if shown.notice.is_some() {
            self.telling -= 1;
            if shown.result.is_ok() {
                self.pause = PAUSES.0;
            } else {
                self.not_before = Instant::now() + self.pause;
                self.pause = (self.pause * 2).min(PAUSES.1);
            }
        }
        shown
    }
}
