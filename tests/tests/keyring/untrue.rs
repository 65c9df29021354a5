//! A keyring that takes secrets and does not give them back is given no key.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::needless_pass_by_value, reason = "the shape of the interface")]

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use skillopt_tests::home::Home;
use skillopt_tests::session::Session;
use zbus::blocking::Connection;
use zbus::blocking::connection::Builder;
use zbus::fdo;
use zbus::zvariant::{ObjectPath, OwnedObjectPath, OwnedValue, Value};

use super::{KEY, PROGRAM, in_session};

const SERVICE: &str = "/org/freedesktop/secrets";
const COLLECTION: &str = "/org/freedesktop/secrets/collection/only";
const ATTRIBUTES: &str = "org.freedesktop.Secret.Item.Attributes";
/// The items there can be, by what the program calls them.
const ITEMS: [&str; 2] = ["self-test", "keys"];

/// What a keyring gives back of what it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GivesBack {
    TheSame,
    AnotherThing,
    Nothing,
}

/// Session, parameters, what was encrypted, and its type.
type Secret = (OwnedObjectPath, Vec<u8>, Vec<u8>, String);

#[derive(Clone)]
struct Kept {
    gives_back: GivesBack,
    secrets: Arc<Mutex<BTreeMap<String, Secret>>>,
    /// Names of all that was ever given to it.
    given: Arc<Mutex<Vec<String>>>,
}

impl Kept {
    fn keep(&self, name: &str, secret: Secret) {
        self.given.lock().unwrap().push(name.to_owned());
        if self.gives_back != GivesBack::Nothing {
            self.secrets.lock().unwrap().insert(name.to_owned(), secret);
        }
    }

    fn find(&self, attributes: &HashMap<String, String>) -> Vec<OwnedObjectPath> {
        let secrets = self.secrets.lock().unwrap();
        let name = attributes.get("username");
        name.filter(|name| secrets.contains_key(*name))
            .map(|name| item(name))
            .into_iter()
            .collect()
    }
}

fn path(text: &str) -> OwnedObjectPath {
    ObjectPath::try_from(text).unwrap().into()
}

fn item(name: &str) -> OwnedObjectPath {
    path(&format!("{COLLECTION}/{}", name.replace('-', "_")))
}

/// Nobody has to be asked.
fn no_prompt() -> OwnedObjectPath {
    path("/")
}

struct Service(Kept);

#[zbus::interface(name = "org.freedesktop.Secret.Service")]
impl Service {
    fn open_session(
        &self,
        _algorithm: &str,
        _input: Value<'_>,
    ) -> fdo::Result<(OwnedValue, OwnedObjectPath)> {
        // With this number for its public key, everybody has the same secret in common with it.
        let public = Value::from(vec![1_u8]).try_into();
        let public = public.map_err(|_| fdo::Error::Failed("no value".to_owned()))?;
        Ok((public, path("/org/freedesktop/secrets/session/s")))
    }

    fn read_alias(&self, _name: &str) -> OwnedObjectPath {
        path(COLLECTION)
    }

    fn search_items(
        &self,
        attributes: HashMap<String, String>,
    ) -> (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) {
        (self.0.find(&attributes), Vec::new())
    }

    fn unlock(&self, objects: Vec<OwnedObjectPath>) -> (Vec<OwnedObjectPath>, OwnedObjectPath) {
        (objects, no_prompt())
    }

    #[zbus(property)]
    fn collections(&self) -> Vec<OwnedObjectPath> {
        vec![path(COLLECTION)]
    }
}

struct Collection(Kept);

#[zbus::interface(name = "org.freedesktop.Secret.Collection")]
impl Collection {
    fn create_item(
        &self,
        properties: HashMap<String, OwnedValue>,
        secret: Secret,
        _replace: bool,
    ) -> fdo::Result<(OwnedObjectPath, OwnedObjectPath)> {
        let attributes = properties.get(ATTRIBUTES).cloned();
        let name = attributes
            .and_then(|value| HashMap::<String, String>::try_from(value).ok())
            .and_then(|mut attributes| attributes.remove("username"))
            .ok_or_else(|| fdo::Error::InvalidArgs("no name".to_owned()))?;
        self.0.keep(&name, secret);
        Ok((item(&name), no_prompt()))
    }

    #[zbus(property)]
    fn locked(&self) -> bool {
        false
    }

    #[zbus(property)]
    fn label(&self) -> &str {
        "only"
    }
}

struct Item {
    name: &'static str,
    kept: Kept,
}

#[zbus::interface(name = "org.freedesktop.Secret.Item")]
impl Item {
    fn get_secret(&self, _session: OwnedObjectPath) -> fdo::Result<(Secret,)> {
        let secrets = self.kept.secrets.lock().unwrap();
        let found = secrets.get(self.name).cloned();
        let mut secret = found.ok_or_else(|| fdo::Error::UnknownObject("none".to_owned()))?;
        if self.kept.gives_back == GivesBack::AnotherThing {
            // A bit of what the encryption begins with is a bit of the first letter.
            secret.1[0] ^= 1;
        }
        Ok((secret,))
    }

    fn set_secret(&self, secret: Secret) {
        self.kept.keep(self.name, secret);
    }

    fn delete(&self) -> OwnedObjectPath {
        self.kept.secrets.lock().unwrap().remove(self.name);
        no_prompt()
    }

    #[zbus(property)]
    fn locked(&self) -> bool {
        false
    }
}

fn serve(session: &Session, kept: &Kept) -> Connection {
    let mut bus = Builder::address(session.address())
        .unwrap()
        .serve_at(SERVICE, Service(kept.clone()))
        .unwrap()
        .serve_at(COLLECTION, Collection(kept.clone()))
        .unwrap();
    for name in ITEMS {
        let kept = kept.clone();
        bus = bus.serve_at(item(name), Item { name, kept }).unwrap();
    }
    bus.name("org.freedesktop.secrets")
        .unwrap()
        .build()
        .unwrap()
}

#[test]
fn a_key_is_given_to_no_keyring_that_does_not_give_back_what_it_gets() {
    for gives_back in [
        GivesBack::TheSame,
        GivesBack::AnotherThing,
        GivesBack::Nothing,
    ] {
        let mut home = Home::with_sample(PROGRAM);
        let session = Session::start(&home.home());
        in_session(&mut home, &session);
        let kept = Kept {
            gives_back,
            secrets: Arc::default(),
            given: Arc::default(),
        };
        let _service = serve(&session, &kept);
        let set = home.run_given(&["key", "set", "WORK_KEY", "--json"], KEY);
        let given = kept.given.lock().unwrap().clone();
        let left: Vec<String> = kept.secrets.lock().unwrap().keys().cloned().collect();
        if gives_back == GivesBack::TheSame {
            assert_eq!(set.code, 0, "{} {}", set.out, set.err);
            assert_eq!(given, ["self-test", "keys"]);
            assert_eq!(left, ["keys"]);
            let listed = home.run(&["key", "list", "--json"]).json();
            assert_eq!(listed["names"], serde_json::json!(["WORK_KEY"]));
        } else {
            assert_eq!(set.json()["error"], "keyring_forgets", "{gives_back:?}");
            assert_eq!(given, ["self-test"], "{gives_back:?}");
            assert!(left.is_empty(), "{gives_back:?}: {left:?}");
        }
    }
}
