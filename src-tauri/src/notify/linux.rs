//! Notifications over D-Bus: the desktop's server draws them and says which button was pressed.
//!
//! notify-rust shows a card and listens afterwards, on the connection that showed it; what is pressed in
//! between is lost, and so is what comes after a press that somebody else made up. Some servers tell all
//! of the session what was pressed, others only that connection. Both are heard: on a connection of our own
//! that listens before the card is shown, and on the one of notify-rust.

use std::pin::Pin;
use std::time::Duration;

use notify_rust::{ActionResponse, Notification, NotificationHandle, Timeout};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout;
use zbus::export::futures_core::Stream;
use zbus::fdo::DBusProxy;
use zbus::names::MemberName;
use zbus::{Connection, MatchRule, MessageStream};

use super::{Card, key, order_of};
use crate::menu::Order;
use crate::text;

/// How long an answer is waited for. Later ones are in the menu.
const PATIENCE: Duration = Duration::from_secs(12 * 60 * 60);
/// How long the bus or a server may take for one answer. A server can have to be started first.
const ANSWERS: Duration = Duration::from_secs(10);
/// How long after a card was closed its press can still be on its way.
const ON_ITS_WAY: Duration = Duration::from_secs(1);

const SERVER: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// Whether the server shows buttons. One that cannot be asked shows nothing at all.
pub(super) async fn has_buttons() -> bool {
    let asked = async {
        let bus = Connection::session().await?;
        let reply = bus
            .call_method(Some(SERVER), PATH, Some(SERVER), "GetCapabilities", &())
            .await?;
        reply.body().deserialize::<Vec<String>>()
    };
    match timeout(ANSWERS, asked).await {
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
    // What a click on the card does. Some servers show it beside the buttons, where one of them would stand
    // twice if it had its name.
    if !buttons.is_empty() {
        notification.action("default", &card.title);
    }
    for (number, (label, order)) in buttons.iter().enumerate() {
        notification.action(&key(number, order), label);
    }
    let presses = if buttons.is_empty() {
        None
    } else {
        // Without it, notify-rust hears nearly everything.
        let listening = timeout(ANSWERS, Presses::listen()).await;
        listening.ok().and_then(Result::ok)
    };
    let handle = timeout(ANSWERS, notification.show_async())
        .await
        .map_err(|_| "its server does not answer".to_owned())?
        .map_err(|error| error.to_string())?;
    if buttons.is_empty() {
        return Ok(());
    }
    // The handle keeps the connection: some desktops close what nobody waits for.
    tokio::spawn(async move {
        let told = async {
            match presses {
                Some(presses) => presses.order(handle.id(), &buttons).await,
                None => std::future::pending().await,
            }
        };
        let answer = async {
            tokio::select! {
                order = told => order,
                order = told_to_the_handle(&handle, &buttons) => order,
            }
        };
        // What is not answered in time is in the menu.
        if let Ok(Some(order)) = timeout(PATIENCE, answer).await {
            let _ = orders.send(order);
        }
    });
    Ok(())
}

/// What servers tell the whole session from now on.
struct Presses(MessageStream);

impl Presses {
    async fn listen() -> zbus::Result<Self> {
        let bus = Connection::session().await?;
        // Only what the server says: the bus knows who that is.
        let of_the_server = MatchRule::builder()
            .msg_type(zbus::message::Type::Signal)
            .sender(SERVER)?
            .interface(SERVER)?
            .path(PATH)?
            .build();
        let about = DBusProxy::new(&bus).await?;
        about.add_match_rule(of_the_server).await?;
        Ok(Self(MessageStream::from(&bus)))
    }

    /// The order of the button that is pressed on this card; `None` when it is closed without one. Presses
    /// of what the card does not have are made up by somebody.
    async fn order(mut self, id: u32, buttons: &[(String, Order)]) -> Option<Order> {
        loop {
            let next = std::future::poll_fn(|cx| Pin::new(&mut self.0).poll_next(cx)).await;
            // When the bus ends, the other connection says so.
            let Some(next) = next else {
                return std::future::pending().await;
            };
            let Ok(message) = next else { continue };
            let header = message.header();
            match header.member().map(MemberName::as_str) {
                Some("ActionInvoked") => {
                    if let Ok((of, action)) = message.body().deserialize::<(u32, String)>()
                        && of == id
                        && let Some(order) = order_of(&action, buttons)
                    {
                        return Some(order);
                    }
                }
                Some("NotificationClosed") => {
                    if let Ok((of, _)) = message.body().deserialize::<(u32, u32)>()
                        && of == id
                    {
                        return None;
                    }
                }
                _ => {}
            }
        }
    }
}

/// The same as the connection hears it that has shown the card.
async fn told_to_the_handle(
    handle: &NotificationHandle,
    buttons: &[(String, Order)],
) -> Option<Order> {
    loop {
        let mut pressed = None;
        let mut over = true;
        handle
            .wait_for_action_async(|response: &ActionResponse<'_>| {
                if let ActionResponse::Custom(action) = response {
                    pressed = order_of(action, buttons);
                    over = false;
                }
            })
            .await;
        if pressed.is_some() {
            return pressed;
        }
        if over {
            tokio::time::sleep(ON_ITS_WAY).await;
            return None;
        }
    }
}
