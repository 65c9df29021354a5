//! The end of the session that this process belongs to.

use skillopt_app::signals;

/// Ends when the user or the system asks this process to end, or when its session has gone. Needs a tokio
/// runtime.
pub(crate) async fn told_to_end() {
    tokio::select! {
        () = signals::told_to_end() => {}
        () = bus_has_gone() => {}
    }
}

/// Ends when the bus of the session, which was there before, has gone: so do all programs of a session, which
/// not everybody who ends one sends a signal. Without it this one would be seen by nobody, and would keep the
/// next one from taking its place. Where there is no bus, it never ends.
#[cfg(target_os = "linux")]
async fn bus_has_gone() {
    use std::pin::pin;

    use zbus::export::futures_core::Stream;
    use zbus::{Connection, MessageStream};

    let Ok(bus) = Connection::session().await else {
        return std::future::pending().await;
    };
    let mut messages = pin!(MessageStream::from(&bus));
    // The last thing that is heard of a connection is why it was lost.
    while let Some(Ok(_)) = std::future::poll_fn(|cx| messages.as_mut().poll_next(cx)).await {}
    crate::said::say("The session has ended, and the app ends with it.");
}

/// Their systems tell every program of a session that it ends.
#[cfg(not(target_os = "linux"))]
async fn bus_has_gone() {
    std::future::pending().await
}
