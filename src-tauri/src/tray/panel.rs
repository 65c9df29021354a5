//! Whether the panel is light, by what the desktop says of its colours (the portal
//! `org.freedesktop.portal.Settings`).
//!
//! Panels of desktops that name no preference are dark almost everywhere, also beside light windows; those
//! that say "light" draw their panel so.

use std::pin::pin;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;
use zbus::export::futures_core::Stream;
use zbus::zvariant::{OwnedValue, Value};
use zbus::{Connection, Proxy};

/// How long the bus or the portal may take for one answer. The portal can have to be started first.
const ANSWERS: Duration = Duration::from_secs(10);

const NAMESPACE: &str = "org.freedesktop.appearance";
const KEY: &str = "color-scheme";
/// The word for "light is preferred"; 1 is dark, 0 no preference.
const LIGHT: u32 = 2;

/// Tells `light` whenever the desktop says that it has become light, or no longer is. Ends with the bus, and
/// where nobody says anything.
pub(super) async fn follow(light: watch::Sender<bool>) {
    let _ = listen(&light).await;
}

async fn listen(light: &watch::Sender<bool>) -> zbus::Result<()> {
    let bus = in_time(Connection::session()).await?;
    let portal = in_time(Proxy::new(
        &bus,
        "org.freedesktop.portal.Desktop",
        "/org/freedesktop/portal/desktop",
        "org.freedesktop.portal.Settings",
    ))
    .await?;
    // Before it is asked, so that no change falls between.
    let mut changes = pin!(in_time(portal.receive_signal("SettingChanged")).await?);
    let value = read(&portal).await?;
    tell(light, &value);
    while let Some(change) = std::future::poll_fn(|cx| changes.as_mut().poll_next(cx)).await {
        let body = change.body();
        let (namespace, key, value): (String, String, OwnedValue) = body.deserialize()?;
        if (namespace.as_str(), key.as_str()) == (NAMESPACE, KEY) {
            tell(light, &value);
        }
    }
    Ok(())
}

async fn read(portal: &Proxy<'_>) -> zbus::Result<OwnedValue> {
    let words = (NAMESPACE, KEY);
    match in_time(portal.call("ReadOne", &words)).await {
        // Older portals have only this.
        Err(zbus::Error::MethodError(..)) => in_time(portal.call("Read", &words)).await,
        answer => answer,
    }
}

/// What the older question gives is wrapped once more; messages bound how often that can be.
fn is_light(value: &Value<'_>) -> bool {
    match value {
        Value::Value(inner) => is_light(inner),
        Value::U32(word) => *word == LIGHT,
        _ => false,
    }
}

fn tell(light: &watch::Sender<bool>, value: &Value<'_>) {
    let is_light = is_light(value);
    light.send_if_modified(|known| std::mem::replace(known, is_light) != is_light);
}

async fn in_time<T>(asking: impl Future<Output = zbus::Result<T>>) -> zbus::Result<T> {
    timeout(ANSWERS, asking)
        .await
        .unwrap_or_else(|_| Err(zbus::Error::Failure("nobody answered in time".to_owned())))
}
