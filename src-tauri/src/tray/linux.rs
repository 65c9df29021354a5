//! The tray over D-Bus alone (StatusNotifierItem), without a toolkit: the process stays small.

use std::process::ExitCode;

use ksni::menu::{MenuItem, StandardItem, SubMenu};
use ksni::{Handle, Icon, OfflineReason, ToolTip, TrayMethods};
use skillopt_app::supervisor::Overall;
use skillopt_app::types::TrayIcon;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use super::{icons, in_place, panel};
use crate::menu::{Entry, Face, Order};
use crate::place::Place;
use crate::text;

/// Runs `host`: this tray needs nothing around it.
pub(crate) fn around(host: impl FnOnce() -> ExitCode + Send + 'static) -> ExitCode {
    host()
}

/// The tray of this session.
pub(crate) struct Tray {
    handle: Handle<Item>,
    shown: watch::Receiver<bool>,
}

struct Item {
    face: Face,
    /// Turns whenever an entry of the menu means something else than before.
    turn: bool,
    /// For which panel the icon is drawn, by the settings.
    drawn_for: TrayIcon,
    /// Whether the desktop says that its panel is light.
    is_light: bool,
    /// Whether something shows trays.
    shown: watch::Sender<bool>,
    orders: UnboundedSender<Order>,
}

impl Tray {
    /// Shows the tray, now or as soon as there is something that shows trays. Nothing without a session
    /// bus.
    pub(crate) async fn show(face: Face, orders: UnboundedSender<Order>) -> Result<Self, String> {
        let (sender, shown) = watch::channel(true);
        let item = Item {
            face,
            turn: false,
            drawn_for: TrayIcon::Auto,
            is_light: false,
            shown: sender,
            orders,
        };
        let handle = item
            .assume_sni_available(true)
            .spawn()
            .await
            .map_err(|error| error.to_string())?;
        let (light, mut is_light) = watch::channel(false);
        tokio::spawn(panel::follow(light));
        let told = handle.clone();
        tokio::spawn(async move {
            while is_light.changed().await.is_ok() {
                let is_light = *is_light.borrow_and_update();
                told.update(|item| item.is_light = is_light).await;
            }
        });
        Ok(Self { handle, shown })
    }

    /// Whether anything on this desktop shows it.
    pub(crate) fn is_shown(&self) -> watch::Receiver<bool> {
        self.shown.clone()
    }

    /// Shows another face, drawn for another panel if one is named; what is the same stays.
    pub(crate) async fn change(&self, face: Face, drawn_for: Option<TrayIcon>) {
        self.handle
            .update(|item| {
                item.drawn_for = drawn_for.unwrap_or(item.drawn_for);
                item.turn ^= !in_place::only_words_differ(&item.face.menu, &face.menu);
                item.face = face;
            })
            .await;
    }
}

impl ksni::Tray for Item {
    fn id(&self) -> String {
        "org.skillopt.desktop".to_owned()
    }

    fn title(&self) -> String {
        format!("SkillOpt: {}", self.face.title)
    }

    fn status(&self) -> ksni::Status {
        match self.face.overall {
            Overall::Attention => ksni::Status::NeedsAttention,
            Overall::Asleep | Overall::Working | Overall::WaitingForReview | Overall::Paused => {
                ksni::Status::Active
            }
        }
    }

    fn icon_pixmap(&self) -> Vec<Icon> {
        self.icon(self.face.overall)
    }

    fn attention_icon_pixmap(&self) -> Vec<Icon> {
        self.icon(Overall::Attention)
    }

    fn tool_tip(&self) -> ToolTip {
        ToolTip {
            title: format!("SkillOpt: {}", self.face.title),
            description: self.face.lines().map(tip).collect::<Vec<_>>().join("\n"),
            ..ToolTip::default()
        }
    }

    fn activate(&mut self, _x: i32, _y: i32) {
        let _ = self.orders.send(Order::Open(Place::Overview));
    }

    fn watcher_online(&self) {
        self.shown.send_replace(true);
    }

    fn watcher_offline(&self, _reason: OfflineReason) -> bool {
        self.shown.send_replace(false);
        true
    }

    fn menu(&self) -> Vec<MenuItem<Self>> {
        let mut menu: Vec<_> = self.face.menu.iter().map(item).collect();
        menu.push(seal(self.turn));
        menu
    }
}

/// A line of the tooltip, which is markup.
fn tip(line: &str) -> String {
    text::escaped(&text::one_line(line, 300))
}

fn item(entry: &Entry) -> MenuItem<Item> {
    match entry {
        Entry::Line(text) => StandardItem {
            label: mnemonic_free(text),
            enabled: false,
            ..StandardItem::default()
        }
        .into(),
        Entry::Act(text, order) => {
            let order = order.clone();
            StandardItem {
                label: mnemonic_free(text),
                activate: Box::new(move |item: &mut Item| {
                    let _ = item.orders.send(order.clone());
                }),
                ..StandardItem::default()
            }
            .into()
        }
        Entry::Sub(text, entries) => SubMenu {
            label: mnemonic_free(text),
            submenu: entries.iter().map(self::item).collect(),
            ..SubMenu::default()
        }
        .into(),
        Entry::Rule => MenuItem::Separator,
    }
}

/// An entry that nobody sees and that makes menus differ in shape whose entries differ in meaning. A menu of
/// the same shape keeps its numbers: without this, a click on an entry of the menu that is open would hit
/// what has taken its place. With it, the numbers that were given are never used again.
fn seal(turn: bool) -> MenuItem<Item> {
    let hidden = || {
        StandardItem {
            visible: false,
            enabled: false,
            ..StandardItem::default()
        }
        .into()
    };
    SubMenu {
        visible: false,
        enabled: false,
        submenu: if turn {
            vec![hidden(), hidden()]
        } else {
            vec![hidden()]
        },
        ..SubMenu::default()
    }
    .into()
}

/// In these menus a single underscore marks a key.
fn mnemonic_free(text: &str) -> String {
    text.replace('_', "__")
}

impl Item {
    fn icon(&self, overall: Overall) -> Vec<Icon> {
        let drawings = icons::of(self.drawn_for, || self.is_light);
        let (side, rgba) = drawings.pixels(overall);
        let mut data = rgba.to_vec();
        for pixel in data.chunks_exact_mut(4) {
            pixel.rotate_right(1);
        }
        vec![Icon {
            width: side,
            height: side,
            data,
        }]
    }
}
