//! Notifications of Windows. A button is reported while the card is on the screen and this process runs;
//! from the list of past notifications it is not, and the menu has the same choices.

use std::sync::OnceLock;

use tauri_winrt_notification::{Duration, Scenario, Toast};
use tokio::sync::mpsc::UnboundedSender;

use super::{Card, key, order_of};
use crate::menu::Order;

/// What Windows knows this program by.
const APP: &str = "org.skillopt.desktop";

/// Every version that this program runs on shows buttons.
#[expect(clippy::unused_async, reason = "on Linux the server is asked")]
pub(super) async fn has_buttons() -> bool {
    true
}

/// Shows a card; whether it could be shown.
pub(super) async fn deliver(card: Card, orders: UnboundedSender<Order>) -> Result<(), String> {
    // The system's part answers when it likes.
    tokio::task::spawn_blocking(move || show(card, orders))
        .await
        .map_err(|error| error.to_string())?
}

fn show(card: Card, orders: UnboundedSender<Order>) -> Result<(), String> {
    static REGISTERED: OnceLock<Result<(), String>> = OnceLock::new();
    REGISTERED.get_or_init(register).clone()?;
    let mut toast = Toast::new(APP).title(&card.title).text1(&card.body);
    toast = if card.stays && !card.buttons.is_empty() {
        toast.scenario(Scenario::Reminder)
    } else {
        toast.duration(Duration::Long)
    };
    for (number, (label, order)) in card.buttons.iter().enumerate() {
        toast = toast.add_button(label, &key(number, order));
    }
    let buttons = card.buttons;
    toast
        .on_activated(move |action| {
            // Without the name of a button, the card itself was clicked.
            let action = action.as_deref().unwrap_or("default");
            if let Some(order) = order_of(action, &buttons) {
                let _ = orders.send(order);
            }
            Ok(())
        })
        .show()
        .map_err(|error| error.to_string())
}

/// Windows shows nothing of a program without a registered name. The installer registers one with the
/// entry in the Start menu; a program that was only built has none.
fn register() -> Result<(), String> {
    windows_registry::CURRENT_USER
        .create(format!(r"Software\Classes\AppUserModelId\{APP}"))
        .and_then(|key| key.set_string("DisplayName", "SkillOpt"))
        .map_err(|error| error.to_string())
}
