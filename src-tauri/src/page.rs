//! The page of a window, which lives in a process of its own: when that process dies, or never shows the page,
//! the page is loaded again where it was. One that dies again and again is given up.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tauri::{Manager, WebviewWindow};
use webkit2gtk::glib::{self, ObjectExt};
use webkit2gtk::{LoadEvent, WebView, WebViewExt};

use crate::opened;
use crate::said;
use crate::windows::Attached;

/// How often in a row a page is loaded again.
const TRIES: u32 = 3;
/// After so long a page is well: when it dies then, that has nothing to do with the time before.
const WELL: Duration = Duration::from_secs(60);
/// How long a page may take to be there. It needs a second or two; on a machine that is far too busy half a
/// minute, and one that is ended then only comes later.
const ARRIVES: Duration = Duration::from_secs(45);

/// The lives of one page.
#[derive(Debug, Default)]
struct Lives {
    /// Its first words have come.
    begun: bool,
    /// Since when it is there.
    since: Option<Instant>,
    /// How often it died in a row.
    deaths: u32,
}

impl Lives {
    /// Takes in how far it is. That of a page that dies is finished, too: before it has begun.
    fn is_at(&mut self, event: LoadEvent, now: Instant) {
        match event {
            LoadEvent::Committed => self.begun = true,
            LoadEvent::Finished if self.begun => self.since = Some(now),
            _ => {}
        }
    }

    /// Takes in a death; whether the page is to be loaded again.
    fn again(&mut self, now: Instant) -> bool {
        self.begun = false;
        let was_well = |since| now.duration_since(since) >= WELL;
        if self.since.take().is_some_and(was_well) {
            self.deaths = 0;
        }
        self.deaths += 1;
        self.deaths <= TRIES
    }
}

/// Looks after the page of a window that was just made.
pub(crate) fn watch(window: &WebviewWindow) -> tauri::Result<()> {
    let of = window.clone();
    // All of this is on the main thread: here, and in what is called later.
    window.with_webview(move |view| {
        let view = view.inner();
        let lives = Rc::new(RefCell::new(Lives::default()));
        wait(&view, &lives);
        // A view forgets where its page was when that dies before it is there.
        let address = Rc::new(RefCell::new(view.uri()));
        let now_at = Rc::clone(&address);
        view.connect_uri_notify(move |view| {
            if let Some(uri) = view.uri().filter(|uri| !uri.is_empty()) {
                now_at.replace(Some(uri));
            }
        });
        let here = Rc::clone(&lives);
        view.connect_load_changed(move |_, event| {
            here.borrow_mut().is_at(event, Instant::now());
        });
        view.connect_web_process_terminated(move |view, _| {
            let again = lives.borrow_mut().again(Instant::now());
            // Not borrowed any more when the view says that it goes there.
            let address = address.borrow().clone();
            match address {
                Some(address) if again => {
                    wait(view, &lives);
                    view.load_uri(&address);
                }
                Some(_) | None => give_up(&of),
            }
        });
    })
}

/// Ends the process of a page that has not arrived in its time, so that it is loaded in another.
fn wait(view: &WebView, lives: &Rc<RefCell<Lives>>) {
    let (view, lives) = (view.downgrade(), Rc::clone(lives));
    let deaths = lives.borrow().deaths;
    glib::timeout_add_local_once(ARRIVES, move || {
        let lives = lives.borrow();
        let is_missing = lives.since.is_none() && lives.deaths == deaths;
        // It is told at once that its process has ended.
        drop(lives);
        if let Some(view) = view.upgrade().filter(|_| is_missing) {
            view.terminate_web_process();
        }
    });
}

/// Closes a window whose page does not live, and says so.
fn give_up(window: &WebviewWindow) {
    if window.state::<Attached>().0 {
        opened::say_page_lost();
        // Whoever closes it as well is too late.
        let _ = window.destroy();
    } else {
        said::say_problem(&opened::page_lost());
        window.app_handle().exit(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(page: &mut Lives, now: Instant) {
        page.is_at(LoadEvent::Committed, now);
        page.is_at(LoadEvent::Finished, now);
    }

    #[test]
    fn a_page_that_dies_again_and_again_is_given_up() {
        let start = Instant::now();
        let mut page = Lives::default();
        arrive(&mut page, start);
        assert!(page.again(start));
        arrive(&mut page, start);
        assert!(page.again(start + WELL / 2));
        // This one is not even there: it is finished, as it is said of one that dies.
        page.is_at(LoadEvent::Finished, start);
        assert!(page.again(start + WELL * 9));
        assert!(!page.again(start + WELL * 9));
    }

    #[test]
    fn a_page_that_was_well_has_all_tries_again() {
        let start = Instant::now();
        let mut page = Lives::default();
        for hour in 1..9 {
            arrive(&mut page, start);
            assert!(page.again(start + WELL * hour), "{hour}");
        }
    }
}
