//! A notification server whose buttons a test presses.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use zbus::blocking::Connection;
use zbus::blocking::connection::Builder;
use zbus::object_server::SignalEmitter;
use zbus::zvariant::OwnedValue;

const PATH: &str = "/org/freedesktop/Notifications";
/// One notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Its number.
    pub id: u32,
    /// The heading.
    pub summary: String,
    /// What it says.
    pub body: String,
    /// Its actions: key and label.
    pub actions: Vec<(String, String)>,
}

/// The server of a session.
#[derive(Debug)]
pub struct Notifications {
    bus: Connection,
    shown: Arc<Mutex<Vec<Shown>>>,
}

/// Owns the name of the notification server and answers nobody.
///
/// # Panics
/// When somebody serves already.
pub fn hanging_notifications(address: &str) -> Connection {
    // Without an object to serve, what is asked is read and never answered.
    Builder::address(address)
        .and_then(|bus| bus.name("org.freedesktop.Notifications"))
        .and_then(Builder::build)
        .expect("the bus")
}

struct Server {
    has_buttons: bool,
    /// The button that is pressed as soon as it is shown.
    pressed: Option<String>,
    shown: Arc<Mutex<Vec<Shown>>>,
}

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Server {
    #[allow(
        clippy::too_many_arguments,
        clippy::needless_pass_by_value,
        reason = "the shape of the interface"
    )]
    async fn notify(
        &self,
        #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
        _app: String,
        _replaces: u32,
        _icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        _hints: HashMap<String, OwnedValue>,
        _timeout: i32,
    ) -> u32 {
        let actions: Vec<(String, String)> = actions
            .chunks_exact(2)
            .map(|pair| (pair[0].clone(), pair[1].clone()))
            .collect();
        let pressed = actions
            .iter()
            .find(|(key, label)| key != "default" && Some(label) == self.pressed.as_ref())
            .map(|(key, _)| key.clone());
        let id = {
            let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
            let id = u32::try_from(shown.len()).unwrap_or(u32::MAX) + 1;
            shown.push(Shown {
                id,
                summary,
                body,
                actions,
            });
            id
        };
        if let Some(key) = pressed {
            // Before whoever shows it even knows its number.
            Self::action_invoked(&emitter, id, &key)
                .await
                .expect("the bus");
        }
        id
    }

    #[zbus(signal)]
    async fn action_invoked(emitter: &SignalEmitter<'_>, id: u32, key: &str) -> zbus::Result<()>;

    fn close_notification(&self, _id: u32) {}

    fn get_capabilities(&self) -> Vec<String> {
        let mut all = vec!["body".to_owned(), "body-markup".to_owned()];
        if self.has_buttons {
            all.push("actions".to_owned());
        }
        all
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        (
            "test".to_owned(),
            "test".to_owned(),
            "1".to_owned(),
            "1.2".to_owned(),
        )
    }
}

impl Notifications {
    /// Serves on the bus at `address`.
    ///
    /// # Panics
    /// When somebody does already.
    #[must_use]
    pub fn serve(address: &str) -> Self {
        Self::start(address, true, None)
    }

    /// One that says it shows no buttons.
    ///
    /// # Panics
    /// As [`Self::serve`].
    #[must_use]
    pub fn serve_without_buttons(address: &str) -> Self {
        Self::start(address, false, None)
    }

    /// One whose user presses the button of this label as soon as it appears.
    ///
    /// # Panics
    /// As [`Self::serve`].
    #[must_use]
    pub fn serve_pressing(address: &str, label: &str) -> Self {
        Self::start(address, true, Some(label.to_owned()))
    }

    fn start(address: &str, has_buttons: bool, pressed: Option<String>) -> Self {
        let shown = Arc::new(Mutex::new(Vec::new()));
        let server = Server {
            has_buttons,
            pressed,
            shown: Arc::clone(&shown),
        };
        let bus = Builder::address(address)
            .and_then(|bus| bus.serve_at(PATH, server))
            .and_then(|bus| bus.name("org.freedesktop.Notifications"))
            .and_then(Builder::build)
            .expect("the bus");
        Self { bus, shown }
    }

    /// Everything that was shown until now, in order.
    #[must_use]
    pub fn shown(&self) -> Vec<Shown> {
        self.shown
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Waits for a notification with this heading.
    #[must_use]
    pub fn wait_for(&self, summary: &str) -> Shown {
        super::until(&format!("the notification \"{summary}\""), || {
            self.shown()
                .into_iter()
                .find(|shown| shown.summary == summary)
        })
    }

    /// Presses the button of this label.
    ///
    /// # Panics
    /// When there is none.
    pub fn press(&self, on: &Shown, label: &str) {
        let (key, _) = on
            .actions
            .iter()
            .find(|(key, known)| key != "default" && known == label)
            .unwrap_or_else(|| panic!("no button {label}: {on:?}"));
        self.say_pressed(on.id, key);
    }

    /// Says that an action was chosen, whether or not it was offered.
    ///
    /// # Panics
    /// When the bus is gone.
    pub fn say_pressed(&self, id: u32, key: &str) {
        self.bus
            .emit_signal(
                None::<&str>,
                PATH,
                "org.freedesktop.Notifications",
                "ActionInvoked",
                &(id, key),
            )
            .expect("the bus");
    }
}
