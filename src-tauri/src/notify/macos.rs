//! Notifications of macOS. With more than one button they are a list that opens, whose own title stands
//! for the first, which is why the first must be harmless.

use mac_notification_sys::{MainButton, Notification, NotificationResponse};
use tokio::sync::mpsc::UnboundedSender;

use super::Card;
use crate::menu::Order;
use crate::said;

/// What macOS knows this program by.
const APP: &str = "org.skillopt.desktop";

/// Every version that this program runs on shows buttons.
#[expect(clippy::unused_async, reason = "on Linux the server is asked")]
pub(super) async fn has_buttons() -> bool {
    true
}

/// Hands a card to a thread of its own, which waits for the answer; whether there is such a thread.
pub(super) async fn deliver(card: Card, orders: UnboundedSender<Order>) -> Result<(), String> {
    std::thread::Builder::new()
        .name("notification".to_owned())
        .spawn(move || {
            if let Some(order) = answer(&card) {
                let _ = orders.send(order);
            }
        })
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Shows the card until it is answered or taken away.
fn answer(card: &Card) -> Option<Order> {
    // Fails when it was set before, and for a program that was not installed; the system then chooses
    // another name to show.
    let _ = mac_notification_sys::set_application(APP);
    let labels: Vec<&str> = card
        .buttons
        .iter()
        .map(|(label, _)| label.as_str())
        .collect();
    let mut notification = Notification::new();
    notification.title(&card.title).message(&card.body);
    match labels.as_slice() {
        [] => notification.asynchronous(true),
        [only] => notification
            .main_button(MainButton::SingleAction(only))
            .wait_for_click(true),
        [first, ..] => notification
            .main_button(MainButton::DropdownActions(first, &labels))
            .wait_for_click(true),
    };
    match notification.send() {
        Ok(NotificationResponse::ActionButton(label)) => card
            .buttons
            .iter()
            .find(|(text, _)| *text == label)
            .map(|(_, order)| order.clone()),
        Ok(NotificationResponse::Click) => card.buttons.first().map(|(_, order)| order.clone()),
        Ok(
            NotificationResponse::None
            | NotificationResponse::CloseButton(_)
            | NotificationResponse::Reply(_),
        ) => None,
        Err(error) => {
            said::say(format_args!("No notification can be shown: {error}."));
            None
        }
    }
}
