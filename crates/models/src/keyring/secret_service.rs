//! Whether the Secret Service of this session is there and open, asked without unlocking anything.

use zbus::blocking::{Connection, fdo::DBusProxy};
use zbus::zvariant::{OwnedObjectPath, OwnedValue};

use super::State;

const NAME: &str = "org.freedesktop.secrets";

/// What the bus answers for who may not talk to the service.
const DENIED: &str = "org.freedesktop.DBus.Error.AccessDenied";

/// The state of the collection new secrets go into. A service without one counts as missing: it holds
/// nothing, and would ask before it made one.
pub(super) fn state() -> State {
    match look() {
        Ok(state) => state,
        Err(zbus::Error::MethodError(name, ..)) if name == DENIED => State::Denied,
        Err(zbus::Error::FDO(error)) if matches!(*error, zbus::fdo::Error::AccessDenied(_)) => {
            State::Denied
        }
        Err(_) => State::Missing,
    }
}

fn look() -> zbus::Result<State> {
    let bus = Connection::session()?;
    if !is_offered(&bus)? {
        return Ok(State::Missing);
    }
    let default: OwnedObjectPath = bus
        .call_method(
            Some(NAME),
            "/org/freedesktop/secrets",
            Some("org.freedesktop.Secret.Service"),
            "ReadAlias",
            &"default",
        )?
        .body()
        .deserialize()?;
    if default.as_str() == "/" {
        return Ok(State::Missing);
    }
    let locked: OwnedValue = bus
        .call_method(
            Some(NAME),
            &default,
            Some("org.freedesktop.DBus.Properties"),
            "Get",
            &("org.freedesktop.Secret.Collection", "Locked"),
        )?
        .body()
        .deserialize()?;
    Ok(match bool::try_from(locked) {
        Ok(false) => State::Ready,
        Ok(true) | Err(_) => State::Locked,
    })
}

/// Whether the service runs, or would be started by asking it.
fn is_offered(bus: &Connection) -> zbus::Result<bool> {
    let about = DBusProxy::new(bus)?;
    if about.name_has_owner(NAME.try_into()?)? {
        return Ok(true);
    }
    Ok(about
        .list_activatable_names()?
        .iter()
        .any(|name| name.as_str() == NAME))
}
