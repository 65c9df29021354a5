//! Something that shows trays: it takes an item's registration, reads what it shows, and clicks its menu.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use zbus::blocking::Connection;
use zbus::blocking::connection::Builder;
use zbus::message::Header;
use zbus::zvariant::{OwnedValue, Value};

/// One entry of a menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number in the menu.
    pub id: i32,
    /// Its words; empty for a line between groups.
    pub label: String,
    /// Whether it can be clicked.
    pub enabled: bool,
    /// What is below it.
    pub below: Vec<Entry>,
}

/// The host of a session.
#[derive(Debug)]
pub struct TrayHost {
    bus: Connection,
    items: Arc<Mutex<Vec<(String, String)>>>,
}

struct Watcher {
    items: Arc<Mutex<Vec<(String, String)>>>,
}

#[zbus::interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    #[allow(clippy::needless_pass_by_value, reason = "the shape of the interface")]
    fn register_status_notifier_item(&self, service: &str, #[zbus(header)] header: Header<'_>) {
        let sender = header.sender().map(ToString::to_string).unwrap_or_default();
        let item = if service.starts_with('/') {
            (sender, service.to_owned())
        } else {
            (sender, "/StatusNotifierItem".to_owned())
        };
        self.items
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(item);
    }

    fn register_status_notifier_host(&self, _service: &str) {}

    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        let items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        items
            .iter()
            .map(|(sender, path)| format!("{sender}{path}"))
            .collect()
    }

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }
}

impl TrayHost {
    /// Shows the trays of the bus at `address`.
    ///
    /// # Panics
    /// When somebody does already.
    #[must_use]
    pub fn serve(address: &str) -> Self {
        let items = Arc::new(Mutex::new(Vec::new()));
        let watcher = Watcher {
            items: Arc::clone(&items),
        };
        let bus = Builder::address(address)
            .and_then(|bus| bus.serve_at("/StatusNotifierWatcher", watcher))
            .and_then(|bus| bus.name("org.kde.StatusNotifierWatcher"))
            .and_then(Builder::build)
            .expect("the bus");
        Self { bus, items }
    }

    /// The item that was registered last: its address on the bus, and its path.
    fn item(&self) -> (String, String) {
        super::until("a tray icon", || {
            self.items
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .last()
                .cloned()
        })
    }

    /// A property of the item.
    ///
    /// # Panics
    /// When it has none of this name.
    #[must_use]
    pub fn property(&self, name: &str) -> OwnedValue {
        let (sender, path) = self.item();
        self.bus
            .call_method(
                Some(sender.as_str()),
                path.as_str(),
                Some("org.freedesktop.DBus.Properties"),
                "Get",
                &("org.kde.StatusNotifierItem", name),
            )
            .expect("the item answers")
            .body()
            .deserialize()
            .expect("a property")
    }

    /// The title of the item.
    #[must_use]
    pub fn title(&self) -> String {
        String::try_from(self.property("Title")).unwrap_or_default()
    }

    /// What is said when the pointer rests on the icon, without its title.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn tooltip(&self) -> String {
        type Tip = (String, Vec<(i32, i32, Vec<u8>)>, String, String);
        let tip = Tip::try_from(self.property("ToolTip")).expect("a tooltip");
        tip.3
    }

    fn menu_path(&self) -> String {
        match &*self.property("Menu") {
            Value::ObjectPath(path) => path.to_string(),
            other => panic!("no menu: {other:?}"),
        }
    }

    /// The menu as it is now.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    pub fn menu(&self) -> Vec<Entry> {
        let (sender, _) = self.item();
        let reply = self
            .bus
            .call_method(
                Some(sender.as_str()),
                self.menu_path().as_str(),
                Some("com.canonical.dbusmenu"),
                "GetLayout",
                &(0_i32, -1_i32, Vec::<&str>::new()),
            )
            .expect("the menu answers");
        type Root = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);
        let (_, (_, _, below)): (u32, Root) = reply.body().deserialize().expect("a layout");
        below.iter().filter_map(|value| entry(value)).collect()
    }

    /// The words of the menu, those of submenus as `above/below`.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        fn collect(entries: &[Entry], above: &str, out: &mut Vec<String>) {
            for entry in entries {
                let label = format!("{above}{}", entry.label);
                collect(&entry.below, &format!("{label}/"), out);
                out.push(label);
            }
        }
        let mut labels = Vec::new();
        collect(&self.menu(), "", &mut labels);
        labels
    }

    /// Clicks the entry that these words lead to; waits for it to be there. A menu that is drawn anew
    /// between the look and the click refuses the click, and is looked at again, as a panel does.
    ///
    /// # Panics
    /// When it cannot be clicked.
    pub fn click(&self, words: &[&str]) {
        super::until(&format!("the menu entry {words:?}"), || {
            let mut entries = self.menu();
            let (last, above) = words.split_last()?;
            for word in above {
                entries = entries
                    .into_iter()
                    .find(|entry| entry.label.starts_with(word))?
                    .below;
            }
            let found = entries
                .into_iter()
                .find(|entry| entry.label.starts_with(last))?;
            assert!(found.enabled, "{found:?}");
            self.click_number(found.id).then_some(())
        });
    }

    /// Clicks the entry that had this number when the menu was read; whether the menu still knows it.
    #[must_use]
    pub fn click_number(&self, id: i32) -> bool {
        let (sender, _) = self.item();
        self.bus
            .call_method(
                Some(sender.as_str()),
                self.menu_path().as_str(),
                Some("com.canonical.dbusmenu"),
                "Event",
                &(id, "clicked", Value::from(""), 0_u32),
            )
            .is_ok()
    }
}

/// An entry that is shown.
fn entry(value: &Value<'_>) -> Option<Entry> {
    let Value::Structure(structure) = value else {
        panic!("no entry: {value:?}")
    };
    let [Value::I32(id), Value::Dict(properties), Value::Array(below)] = structure.fields() else {
        panic!("no entry: {structure:?}")
    };
    let text = |name: &str| properties.get::<_, String>(&name).ok().flatten();
    let flag = |name: &str| properties.get::<_, bool>(&name).ok().flatten();
    if flag("visible") == Some(false) {
        return None;
    }
    Some(Entry {
        id: *id,
        label: text("label").unwrap_or_default().replace("__", "_"),
        enabled: flag("enabled").unwrap_or(true),
        below: below
            .iter()
            .filter_map(|value| match value {
                Value::Value(inner) => entry(inner),
                other => entry(other),
            })
            .collect(),
    })
}
