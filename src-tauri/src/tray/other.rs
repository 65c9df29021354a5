//! The tray of macOS and Windows: the system wants it on the main thread, beside the loop that receives
//! its events, and everything else runs on another thread.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};

use skillopt_app::Problem;
use skillopt_app::supervisor::Overall;
use skillopt_app::types::TrayIcon as Panel;
use tauri::image::Image;
use tauri::menu::{IsMenuItem, Menu, MenuItem, PredefinedMenuItem, Submenu};
use tauri::tray::{MouseButton, MouseButtonState, TrayIcon, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Manager, RunEvent, Wry};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use super::icons::{self, Drawings};
use super::{in_place, native};
use crate::menu::{Entry, Face, Order};
use crate::place::Place;
use crate::said;

/// The loop of this process, once it has been made.
static APP: OnceLock<AppHandle> = OnceLock::new();

/// Runs `host` on a thread of its own and the system's loop on this one, until `host` has ended.
pub(crate) fn around(host: impl FnOnce() -> ExitCode + Send + 'static) -> ExitCode {
    let built = tauri::Builder::default().build(crate::windows::context());
    let app = match built {
        Ok(app) => app,
        Err(error) => {
            let problem = Problem::temporary(
                "tray_failed",
                format!("The app cannot start: {error}."),
                "Try again; `skillopt daemon` runs the nights without it.",
            );
            said::say_problem(&problem);
            return ExitCode::FAILURE;
        }
    };
    // A tray has no place in the Dock; the process of the windows has.
    #[cfg(target_os = "macos")]
    let app = {
        let mut app = app;
        app.set_activation_policy(tauri::ActivationPolicy::Accessory);
        app
    };
    let handle = APP.get_or_init(|| app.handle().clone()).clone();
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || {
        // Also when the host panics: a loop that nobody ends would stay for ever.
        let _last = EndOfLoop(handle);
        let _ = ended.send(host());
    });
    let code = Arc::new(OnceLock::new());
    let told = Arc::clone(&code);
    app.run_return(move |app, event| match event {
        // Nothing is open: this is the user or the session asking for the end, not the host.
        RunEvent::ExitRequested {
            code: None, api, ..
        } => {
            api.prevent_exit();
            send(app, Order::Quit);
        }
        // The session may end this process as soon as this returns: the nights are stopped before.
        RunEvent::Exit => {
            send(app, Order::Quit);
            let _ = told.set(end.recv().unwrap_or(ExitCode::FAILURE));
        }
        // Opened again from Finder or the Dock, which starts no second process.
        #[cfg(target_os = "macos")]
        RunEvent::Reopen { .. } => send(app, Order::Open(Place::Overview)),
        _ => {}
    });
    code.get().copied().unwrap_or(ExitCode::FAILURE)
}

struct EndOfLoop(AppHandle);

impl Drop for EndOfLoop {
    fn drop(&mut self) {
        self.0.exit(0);
    }
}

/// Hands an order to the host, once it listens.
fn send(app: &AppHandle, order: Order) {
    if let Some(orders) = app.try_state::<UnboundedSender<Order>>() {
        let _ = orders.send(order);
    }
}

/// The tray of this session. Its parts are touched on the main thread alone, which the host never waits
/// for: at the end the main thread waits for the host.
pub(crate) struct Tray {
    app: AppHandle,
    shown: Arc<Mutex<Option<Shown>>>,
    is_shown: watch::Receiver<bool>,
}

/// What is on the screen.
struct Shown {
    icon: TrayIcon,
    items: Vec<Item>,
    face: Face,
    drawn_for: Panel,
}

/// An entry of the menu, kept so that its words can be changed.
enum Item {
    Words(MenuItem<Wry>),
    Sub(Submenu<Wry>, Vec<Self>),
    Rule(PredefinedMenuItem<Wry>),
}

impl Tray {
    /// Shows the tray as soon as the system's loop runs.
    pub(crate) async fn show(face: Face, orders: UnboundedSender<Order>) -> Result<Self, String> {
        let app = APP.get().ok_or("there is no loop for it")?.clone();
        app.manage(orders);
        let (is_there, is_shown) = watch::channel(true);
        let tray = Self {
            app,
            shown: Arc::new(Mutex::new(None)),
            is_shown,
        };
        let clicked = Arc::clone(&tray.shown);
        tray.on_the_main_thread(move |app, shown| {
            let made = Shown::new(app, face, clicked);
            is_there.send_replace(made.is_ok());
            *shown = Some(made?);
            Ok(())
        })
        .map_err(|error| error.to_string())?;
        Ok(tray)
    }

    /// Whether the system shows it.
    pub(crate) fn is_shown(&self) -> watch::Receiver<bool> {
        self.is_shown.clone()
    }

    /// Shows another face, drawn for another panel if one is named; what is the same stays.
    pub(crate) async fn change(&self, face: Face, drawn_for: Option<Panel>) {
        // It fails when the loop has ended, and the tray with it.
        let _ = self.on_the_main_thread(move |app, shown| match shown {
            Some(shown) => shown.change(app, face, drawn_for),
            None => Ok(()),
        });
    }

    fn on_the_main_thread(
        &self,
        work: impl FnOnce(&AppHandle, &mut Option<Shown>) -> tauri::Result<()> + Send + 'static,
    ) -> tauri::Result<()> {
        let (app, shown) = (self.app.clone(), Arc::clone(&self.shown));
        self.app.run_on_main_thread(move || {
            if let Err(error) = work(&app, &mut held(&shown)) {
                said::say(format_args!(
                    "The tray icon cannot be shown as it should be: {error}."
                ));
            }
        })
    }
}

fn held(shown: &Mutex<Option<Shown>>) -> MutexGuard<'_, Option<Shown>> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tooltip(face: &Face) -> String {
    let lines: Vec<&str> = face.lines().collect();
    native::tooltip(&face.title, &lines.join("\n"))
}

impl Shown {
    fn new(app: &AppHandle, face: Face, clicked: Arc<Mutex<Option<Self>>>) -> tauri::Result<Self> {
        let items = items(app, &face.menu)?;
        let icon = TrayIconBuilder::new()
            .icon(image(face.overall, Panel::Auto))
            .icon_as_template(cfg!(target_os = "macos"))
            .tooltip(tooltip(&face))
            .menu(&menu(app, &items)?)
            // On Windows the left button opens the app, and the right one the menu.
            .show_menu_on_left_click(cfg!(target_os = "macos"))
            .on_menu_event(move |app, event| {
                let order = held(&clicked)
                    .as_ref()
                    .and_then(|shown| native::order_named(&event.id.0, &shown.face.menu));
                if let Some(order) = order {
                    send(app, order);
                }
            })
            .on_tray_icon_event(|icon, event| {
                if let TrayIconEvent::Click {
                    button: MouseButton::Left,
                    button_state: MouseButtonState::Up,
                    ..
                } = event
                    && cfg!(windows)
                {
                    send(icon.app_handle(), Order::Open(Place::Overview));
                }
            })
            .build(app)?;
        Ok(Self {
            icon,
            items,
            face,
            drawn_for: Panel::Auto,
        })
    }

    fn change(
        &mut self,
        app: &AppHandle,
        face: Face,
        drawn_for: Option<Panel>,
    ) -> tauri::Result<()> {
        self.drawn_for = drawn_for.unwrap_or(self.drawn_for);
        // Also when the state is the same: the taskbar may have changed its colour.
        self.icon.set_icon_with_as_template(
            Some(image(face.overall, self.drawn_for)),
            cfg!(target_os = "macos"),
        )?;
        if face == self.face {
            return Ok(());
        }
        self.icon.set_tooltip(Some(tooltip(&face)))?;
        if in_place::only_words_differ(&self.face.menu, &face.menu) {
            say(&self.items, &self.face.menu, &face.menu)?;
        } else {
            self.items = items(app, &face.menu)?;
            self.icon.set_menu(Some(menu(app, &self.items)?))?;
        }
        self.face = face;
        Ok(())
    }
}

fn menu(app: &AppHandle, items: &[Item]) -> tauri::Result<Menu<Wry>> {
    let menu = Menu::new(app)?;
    for item in items {
        menu.append(item.as_dyn())?;
    }
    Ok(menu)
}

fn items(app: &AppHandle, entries: &[Entry]) -> tauri::Result<Vec<Item>> {
    let item = |entry: &Entry| -> tauri::Result<Item> {
        Ok(match entry {
            Entry::Line(text) => {
                let text = native::label(text);
                Item::Words(MenuItem::new(app, text, false, None::<&str>)?)
            }
            Entry::Act(text, order) => {
                let (id, text) = (native::name(order), native::label(text));
                Item::Words(MenuItem::with_id(app, id, text, true, None::<&str>)?)
            }
            Entry::Sub(text, entries) => {
                let sub = Submenu::new(app, native::label(text), true)?;
                let items = items(app, entries)?;
                for item in &items {
                    sub.append(item.as_dyn())?;
                }
                Item::Sub(sub, items)
            }
            Entry::Rule => Item::Rule(PredefinedMenuItem::separator(app)?),
        })
    };
    entries.iter().map(item).collect()
}

impl Item {
    fn as_dyn(&self) -> &dyn IsMenuItem<Wry> {
        match self {
            Self::Words(item) => item,
            Self::Sub(sub, _) => sub,
            Self::Rule(rule) => rule,
        }
    }
}

/// Changes words where they differ; everything else of both menus is the same.
fn say(items: &[Item], old: &[Entry], new: &[Entry]) -> tauri::Result<()> {
    for (item, (old, new)) in items.iter().zip(old.iter().zip(new)) {
        match (item, old, new) {
            (
                Item::Words(item),
                Entry::Line(old) | Entry::Act(old, _),
                Entry::Line(new) | Entry::Act(new, _),
            ) if old != new => item.set_text(native::label(new))?,
            (Item::Sub(sub, items), Entry::Sub(old, below_old), Entry::Sub(new, below_new)) => {
                if old != new {
                    sub.set_text(native::label(new))?;
                }
                say(items, below_old, below_new)?;
            }
            (Item::Words(_) | Item::Sub(..) | Item::Rule(_), _, _) => {}
        }
    }
    Ok(())
}

fn image(overall: Overall, panel: Panel) -> Image<'static> {
    let (side, rgba) = drawings(panel).pixels(overall);
    Image::new(rgba, side, side)
}

/// macOS colours them itself.
#[cfg(target_os = "macos")]
fn drawings(_panel: Panel) -> &'static Drawings {
    &icons::TEMPLATE
}

/// The taskbar has a colour of its own, beside that of the windows.
#[cfg(windows)]
fn drawings(panel: Panel) -> &'static Drawings {
    const COLOURS: &str = r"Software\Microsoft\Windows\CurrentVersion\Themes\Personalize";
    icons::of(panel, || {
        windows_registry::CURRENT_USER
            .open(COLOURS)
            .and_then(|key| key.get_u32("SystemUsesLightTheme"))
            .is_ok_and(|value| value != 0)
    })
}
