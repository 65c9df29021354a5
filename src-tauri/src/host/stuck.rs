//! An app that cannot work, for example because a newer version has written its data: tray and windows
//! say so, and nothing else is done.

use skillopt_app::Problem;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::display::Display;
use crate::menu::{Face, Order};
use crate::notify::Card;
use crate::opened::Windows;
use crate::said;
use crate::session;
use crate::tray::Tray;
use crate::words::Words;

/// Says it until the user quits. Without a session bus nobody would see it: then it ends at once.
pub(super) async fn show(
    problem: &Problem,
    mut windows: Windows,
    orders: UnboundedSender<Order>,
    mut given: UnboundedReceiver<Order>,
) {
    let words = Words::of_the_session();
    let tray = Tray::show(Face::stuck(problem, &words), orders.clone()).await;
    // The log has it already.
    let _ = Card::of_problem(problem, &words).show(orders, &words).await;
    if tray.is_err() {
        return;
    }
    let mut end = std::pin::pin!(session::told_to_end());
    loop {
        let order = tokio::select! {
            () = &mut end => break,
            order = given.recv() => order,
        };
        let (place, display) = match order {
            Some(Order::Open(place)) => (place, Display::here()),
            Some(Order::OpenOn(place, display)) => (place, display.or_here()),
            Some(Order::Quit) | None => break,
            Some(Order::Say(problem)) => {
                said::say_problem(&problem);
                continue;
            }
            Some(_) => continue,
        };
        if let Err(problem) = windows.open(&place, display).await {
            said::say_problem(&problem);
        }
    }
    windows.close().await;
}
