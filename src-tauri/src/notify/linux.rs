//! Notifications over D-Bus: the desktop's server draws them and says which button was pressed.

use std::time::Duration;

use notify_rust::{ActionResponse, Notification, Timeout};
use tokio::sync::mpsc::UnboundedSender;

use super::{Card, key, order_of};
use crate::menu::Order;
use crate::text;

/// How long an answer is waited for. Later ones are in the menu.
const PATIENCE: Duration = Duration::from_secs(12 * 60 * 60);

/// How long a server may take to say what it can do.
const ANSWERS: Duration = Duration::from_secs(3);

/// Whether the server shows buttons. One that cannot be asked shows nothing at all.
pub(super) async fn has_buttons() -> bool {
    let asked = async {
        let bus = zbus::Connection::session().await?;
        let name = "org.freedesktop.Notifications";
        let path = "/org/freedesktop/Notifications";
        let reply = bus
            .call_method(Some(name), path, Some(name), "GetCapabilities", &())
            .await?;
        reply.body().deserialize::<Vec<String>>()
    };
    match tokio::time::timeout(ANSWERS, asked).await {
        Ok(Ok(capabilities)) => capabilities.iter().any(|one| one == "actions"),
        Ok(Err(_)) | Err(_) => true,
    }
}

/// Shows a card; whether it could be shown.
pub(super) async fn deliver(card: Card, orders: UnboundedSender<Order>) -> Result<(), String> {
    let mut notification = Notification::new();
    notification
        .appname("SkillOpt")
        .summary(&card.title)
        .body(&text::escaped(&card.body))
        .icon("skillopt-desktop")
        .timeout(if card.stays {
            Timeout::Never
        } else {
            Timeout::Default
        });
    let buttons = card.buttons;
    if let Some((label, _)) = buttons.first() {
        notification.action("default", label);
    }
    for (number, (label, order)) in buttons.iter().enumerate() {
        notification.action(&key(number, order), label);
    }
    let handle = notification
        .show_async()
        .await
        .map_err(|error| error.to_string())?;
    if buttons.is_empty() {
        return Ok(());
    }
    // The handle keeps the connection: some desktops close what nobody waits for.
    tokio::spawn(async move {
        let mut pressed = None;
        let waiting = handle.wait_for_action_async(|response| {
            if let ActionResponse::Custom(action) = response {
                pressed = order_of(action, &buttons);
            }
        });
        // What is not answered in time is in the menu.
        let _ = tokio::time::timeout(PATIENCE, waiting).await;
        if let Some(order) = pressed {
            let _ = orders.send(order);
        }
    });
    Ok(())
}
