//! The icon, and the panel it is drawn for.

use std::collections::HashMap;

use skillopt_tests::desktop::{TrayHost, until};
use skillopt_tests::session::Session;
use zbus::blocking::connection::{Builder, Connection};
use zbus::fdo;
use zbus::zvariant::{OwnedValue, Value};

use crate::person::Person;

const PATH: &str = "/org/freedesktop/portal/desktop";
const NAME: &str = "org.freedesktop.portal.Settings";

/// The desktop's portal, in which a colour scheme is set.
struct Portal {
    scheme: u32,
    /// Whether it knows the newer of the two questions.
    is_new: bool,
}

#[zbus::interface(name = "org.freedesktop.portal.Settings")]
impl Portal {
    fn read_one(&self, namespace: &str, key: &str) -> fdo::Result<OwnedValue> {
        if !self.is_new {
            return Err(fdo::Error::UnknownMethod("an old portal".to_owned()));
        }
        self.read_scheme(namespace, key)
    }

    fn read(&self, namespace: &str, key: &str) -> fdo::Result<OwnedValue> {
        // Wrapped once more than it should be, and kept so for whoever relies on it.
        let value = Value::from(self.read_scheme(namespace, key)?);
        Value::Value(Box::new(value))
            .try_into()
            .map_err(|_| fdo::Error::Failed("no value".to_owned()))
    }

    fn read_all(&self, _namespaces: Vec<String>) -> HashMap<String, HashMap<String, OwnedValue>> {
        HashMap::new()
    }
}

impl Portal {
    fn read_scheme(&self, namespace: &str, key: &str) -> fdo::Result<OwnedValue> {
        if (namespace, key) == ("org.freedesktop.appearance", "color-scheme") {
            Ok(OwnedValue::from(self.scheme))
        } else {
            Err(fdo::Error::InvalidArgs("no such setting".to_owned()))
        }
    }
}

fn serve(session: &Session, scheme: u32, is_new: bool) -> Connection {
    Builder::address(session.address())
        .and_then(|bus| bus.serve_at(PATH, Portal { scheme, is_new }))
        .and_then(|bus| bus.name("org.freedesktop.portal.Desktop"))
        .and_then(Builder::build)
        .unwrap()
}

/// The colour of the icon's first pixel that is not transparent: red, as bright as the rest.
fn brightness(tray: &TrayHost) -> u8 {
    let value = tray.property("IconPixmap");
    let pixmaps: Vec<(i32, i32, Vec<u8>)> = value.try_into().unwrap();
    let (_, _, pixels) = &pixmaps[0];
    // Alpha, red, green, blue.
    let pixel = pixels.chunks(4).find(|pixel| pixel[0] == 255).unwrap();
    pixel[1]
}

fn wait_for(tray: &TrayHost, what: &str, is_right: impl Fn(u8) -> bool) {
    until(what, || is_right(brightness(tray)).then_some(()));
}

const fn is_bright(brightness: u8) -> bool {
    brightness > 127
}

#[test]
fn the_icon_is_drawn_for_the_panel_of_the_desktop_or_of_the_setting() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let portal = serve(&session, 2, true);
    let mut app = person.start(&session, &["--quiet"]);
    wait_for(&tray, "a dark icon on a light panel", |one| !is_bright(one));
    let change = |scheme: u32| {
        let words = (
            "org.freedesktop.appearance",
            "color-scheme",
            Value::from(scheme),
        );
        portal
            .emit_signal(None::<&str>, PATH, NAME, "SettingChanged", &words)
            .unwrap();
    };
    change(1);
    wait_for(&tray, "a bright icon on a dark panel", is_bright);
    person.set("desktop.tray_icon", "light");
    // The next look reads the settings.
    tray.click(&["Pause", "Until I resume"]);
    wait_for(&tray, "a dark icon by the setting", |one| !is_bright(one));
    person.set("desktop.tray_icon", "dark");
    tray.click(&["Resume"]);
    wait_for(&tray, "a bright icon by the setting", is_bright);
    assert_eq!(app.end(), 0);
}

#[test]
fn an_old_portal_is_understood_and_none_means_a_dark_panel() {
    let person = Person::new();
    for has_portal in [true, false] {
        let session = Session::start(&person.home());
        let tray = TrayHost::serve(session.address());
        let _portal = has_portal.then(|| serve(&session, 2, false));
        let mut app = person.start(&session, &["--quiet"]);
        wait_for(&tray, "the icon", |one| is_bright(one) != has_portal);
        assert_eq!(app.end(), 0);
    }
}
