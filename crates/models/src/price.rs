//! What tokens cost.

mod table;

use std::path::Path;

use serde::{Deserialize, Serialize};
use skillopt_core::Problem;

use crate::backend::{Backend, Usage};

pub use table::FILE;
use table::{Row, rows_of};

/// Price of one model, in units of the user's currency per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Per million tokens of the messages.
    pub input: f64,
    /// Per million of those that came from a cache; never more than `input`.
    pub cached: f64,
    /// Per million tokens of the reply.
    pub output: f64,
}

/// An amount in millionths of the currency, as it is shown: `0.02`. What is not nothing is at least
/// `0.01`.
#[must_use]
pub fn shown(micros: u64) -> String {
    let hundredths = micros.div_ceil(10_000);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

impl Price {
    /// What runs on this computer costs no money.
    pub const FREE: Self = Self {
        input: 0.0,
        cached: 0.0,
        output: 0.0,
    };

    /// A price without a rebate for cached tokens.
    #[must_use]
    pub const fn flat(input: f64, output: f64) -> Self {
        Self {
            input,
            cached: input,
            output,
        }
    }

    /// The price of so many tokens, none of them cached, in millionths of the currency, rounded up.
    ///
    /// Units per million tokens are millionths per token, so this is a plain product.
    #[must_use]
    pub fn micros(self, input_tokens: u64, output_tokens: u64) -> u64 {
        self.micros_of(input_tokens, 0, output_tokens)
    }

    /// The price of what a provider counted. `None` when it did not count both sides.
    #[must_use]
    pub fn micros_used(self, usage: Usage) -> Option<u64> {
        let (input, output) = (usage.input_tokens?, usage.output_tokens?);
        let cached = usage.cached_tokens.unwrap_or(0).min(input);
        Some(self.micros_of(input - cached, cached, output))
    }

    fn micros_of(self, input: u64, cached: u64, output: u64) -> u64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "token counts stay far below 2^53"
        )]
        let micros =
            (input as f64 * self.input + cached as f64 * self.cached + output as f64 * self.output)
                .ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the cast saturates, and a negative or undefined price is refused by `given` and by the table"
        )]
        let micros = micros as u64;
        micros
    }

    /// The price given by the settings `spends.input_price` and `spends.output_price`, where 0 means
    /// unknown. Of two prices the unknown one counts as the known one; `None` when both are unknown.
    #[must_use]
    pub fn given(input: f64, output: f64) -> Option<Self> {
        let known = |price: f64| (price.is_finite() && price > 0.0).then_some(price);
        match (known(input), known(output)) {
            (None, None) => None,
            (Some(one), None) | (None, Some(one)) => Some(Self::flat(one, one)),
            (Some(input), Some(output)) => Some(Self::flat(input, output)),
        }
    }
}

/// Where a price comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// The user's own table.
    Own,
    /// `spends.input_price` and `spends.output_price`.
    Given,
    /// It runs on this computer.
    Local,
    /// The built-in table, as of that day.
    Listed(String),
    /// The model is in no table: it counts as the dearest there.
    Dearest,
}

/// The prices that are known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    /// What the user says any model costs.
    pub given: Option<Price>,
    /// What all of them are in, for example `USD`: as the user's table says, else as the built-in one.
    pub currency: String,
    own: Vec<Row>,
    listed: Vec<Row>,
    /// The prices of `listed` are in another currency, and say nothing in this one.
    listed_elsewhere: bool,
}

impl Prices {
    /// The built-in table and, before it, that of `folder` if there is one. Prices in another currency than that
    /// one's are no prices here.
    ///
    /// # Errors
    /// `prices_broken`, with the file.
    pub fn load(folder: &Path) -> Result<Self, Problem> {
        let own = table::own(folder)?;
        let listed = table::built_in()?;
        let of_another_currency = !own.currency.is_empty() && own.currency != listed.currency;
        Ok(Self {
            given: None,
            currency: if of_another_currency {
                own.currency
            } else {
                listed.currency
            },
            own: own.model,
            listed: listed.model,
            listed_elsewhere: of_another_currency,
        })
    }

    /// The same with what the user says any model costs.
    #[must_use]
    pub fn with_given(self, given: Option<Price>) -> Self {
        Self { given, ..self }
    }

    /// What a model of `backend` costs, and how that is known: by the user's own table, else as the
    /// settings say, else nothing when it runs on this computer, else by the built-in table, else like
    /// the dearest that is known. `None` when nothing is known.
    #[must_use]
    pub fn of(&self, backend: &dyn Backend) -> Option<(Price, Basis)> {
        self.of_one(backend, &[&backend.id().model])
    }

    /// What a reply costs that `model` gave, whatever `backend` was asked for. When that one is in no
    /// table, or nothing was said of it, it costs what the model that was asked costs.
    #[must_use]
    pub fn of_reply(&self, backend: &dyn Backend, model: &str) -> Option<Price> {
        self.of_one(backend, &[model, &backend.id().model])
            .map(|(price, _)| price)
    }

    /// What the first of `models` costs that a table has.
    fn of_one(&self, backend: &dyn Backend, models: &[&str]) -> Option<(Price, Basis)> {
        let row_in = |rows| models.iter().find_map(|model| rows_of(rows, model));
        if let Some(row) = row_in(&self.own) {
            return Some((row.price(), Basis::Own));
        }
        if let Some(given) = self.given {
            return Some((given, Basis::Given));
        }
        if backend.local() {
            return Some((Price::FREE, Basis::Local));
        }
        let listed = if self.listed_elsewhere {
            &[]
        } else {
            self.listed.as_slice()
        };
        if let Some(row) = row_in(listed) {
            return Some((row.price(), Basis::Listed(row.as_of.clone())));
        }
        let dearest = self
            .own
            .iter()
            .chain(listed)
            .map(Row::price)
            .reduce(|a, b| Price {
                input: a.input.max(b.input),
                cached: a.cached.max(b.cached),
                output: a.output.max(b.output),
            })?;
        Some((dearest, Basis::Dearest))
    }

    /// What has to be said about the prices of these backends, one sentence each: those that are not
    /// known.
    #[must_use]
    pub fn notes(&self, roles: &crate::path::Roles) -> Vec<String> {
        let mut notes = Vec::new();
        for backend in roles.each() {
            let model = backend.id().model;
            if !backend.paid() {
                continue;
            }
            if let Some((price, Basis::Dearest)) = self.of(backend.as_ref()) {
                let note = format!(
                    "What {} costs is not known; it counts as the dearest model known ({} in, {} out for a million tokens), unless the reply names a model that is. Put it into {FILE} in the settings folder, or set spends.input_price and spends.output_price.",
                    if model.is_empty() {
                        "the model"
                    } else {
                        &model
                    },
                    price.input,
                    price.output
                );
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        notes
    }

    /// A table of one model.
    #[cfg(test)]
    pub(crate) fn listing(model: &str, price: Price) -> Self {
        Self {
            listed: vec![Row::of(model, price)],
            ..Self::default()
        }
    }

    /// How many tokens a model reads and writes at most; `None` when that is not known.
    #[must_use]
    pub fn context_of(&self, model: &str) -> Option<u64> {
        let known = |rows| rows_of(rows, model).and_then(|row| row.context);
        known(&self.own).or_else(|| known(&self.listed))
    }

    /// The least of what models are known to read and write; `None` when no table says it of any.
    #[must_use]
    pub fn least_context(&self) -> Option<u64> {
        let rows = self.own.iter().chain(&self.listed);
        rows.filter_map(|row| row.context).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;

    #[test]
    fn a_price_is_rounded_up_to_millionths() {
        let price = Price {
            input: 0.25,
            cached: 0.025,
            output: 1.25,
        };
        assert_eq!(price.micros(3, 0), 1);
        // 1,000 × 0.25 + 100 × 1.25 = 375 millionths.
        assert_eq!(price.micros(1000, 100), 375);
        let usage = |cached_tokens| Usage {
            input_tokens: Some(1000),
            cached_tokens,
            output_tokens: Some(100),
        };
        assert_eq!(price.micros_used(usage(None)), Some(375));
        // 200 × 0.25 + 800 × 0.025 + 100 × 1.25 = 195.
        assert_eq!(price.micros_used(usage(Some(800))), Some(195));
        // A provider that counts more cached tokens than there are is not paid by them.
        assert_eq!(price.micros_used(usage(Some(9000))), Some(150));
        assert_eq!(price.micros_used(Usage::default()), None);
    }

    struct Named(&'static str, bool);

    impl Backend for Named {
        fn id(&self) -> skillopt_core::call::BackendId {
            let mut id = Mock.id();
            self.0.clone_into(&mut id.model);
            id
        }
        fn paid(&self) -> bool {
            true
        }
        fn provider(&self) -> String {
            String::new()
        }
        fn local(&self) -> bool {
            self.1
        }
        fn ask<'a>(
            &'a self,
            call: &'a skillopt_core::call::Call,
            cancel: &'a crate::cancel::CancelToken,
        ) -> crate::backend::Asking<'a> {
            Mock.ask(call, cancel)
        }
    }

    #[test]
    fn amounts_are_shown_in_hundredths_rounded_up() {
        assert_eq!(shown(0), "0.00");
        assert_eq!(shown(1), "0.01");
        assert_eq!(shown(10_000), "0.01");
        assert_eq!(shown(12_345_678), "12.35");
    }

    #[test]
    fn an_unknown_price_counts_as_the_dearest_known() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Prices::default().of(&Named("m", false)), None);
        let table = "[[model]]\nnames = [\"a\"]\ninput = 1.0\noutput = 2.0\nas_of = \"2026-01-01\"\n\
                     [[model]]\nnames = [\"b\"]\ninput = 0.5\ncached = 0.1\noutput = 900.0\nas_of = \"2026-01-01\"\n";
        skillopt_store::files::write_private(&folder.path().join(FILE), table.as_bytes()).unwrap();
        let mut prices = Prices::load(folder.path()).unwrap();
        let of = |prices: &Prices, model, local| prices.of(&Named(model, local)).unwrap();
        assert_eq!(of(&prices, "a", true), (Price::flat(1.0, 2.0), Basis::Own));
        let (dearest, basis) = of(&prices, "nobody-knows", false);
        assert_eq!(basis, Basis::Dearest);
        // The dearest output is the user's, the dearest input the built-in table's.
        assert!((dearest.output - 900.0).abs() < 1e-9 && dearest.input >= 15.0);
        assert_eq!(
            of(&prices, "nobody-knows", true),
            (Price::FREE, Basis::Local)
        );
        assert!(matches!(
            of(&prices, "gpt-4o-2024-08-06", false).1,
            Basis::Listed(_)
        ));
        // The reply says which model gave it.
        let of_reply = |prices: &Prices, asked, answered, local| {
            prices.of_reply(&Named(asked, local), answered).unwrap()
        };
        let small = of(&prices, "gpt-4o-mini", false).0;
        assert_eq!(
            of_reply(&prices, "", "gpt-4o-mini-2024-07-18", false),
            small
        );
        assert_eq!(of_reply(&prices, "gpt-4o-mini", "", false), small);
        assert_eq!(of_reply(&prices, "gpt-4o-mini", "what", false), small);
        assert_eq!(of_reply(&prices, "", "what", false), dearest);
        assert_eq!(of_reply(&prices, "", "gpt-4o-mini", true), Price::FREE);
        assert_eq!(
            of_reply(&prices, "gpt-4o-mini", "a", false),
            of(&prices, "a", true).0
        );
        prices.given = Price::given(0.0, 3.0);
        assert_eq!(
            of_reply(&prices, "", "gpt-4o-mini", false),
            Price::flat(3.0, 3.0)
        );
        assert_eq!(
            of(&prices, "gpt-4o", true),
            (Price::flat(3.0, 3.0), Basis::Given)
        );
        assert_eq!(of(&prices, "a", false).1, Basis::Own);
        assert_eq!(Price::given(0.0, f64::NAN), None);
    }

    #[test]
    fn prices_in_another_currency_are_none_here() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Prices::load(folder.path()).unwrap().currency, "USD");
        let row = "[[model]]\nnames = [\"a\"]\ninput = 1.0\noutput = 2.0\nas_of = \"2026-01-01\"\n";
        let with = |currency: &str| {
            let table = format!("currency = \"{currency}\"\n{row}");
            skillopt_store::files::write_private(&folder.path().join(FILE), table.as_bytes())
                .unwrap();
            Prices::load(folder.path()).unwrap()
        };
        let listed = |prices: &Prices| prices.of(&Named("gpt-4o", false)).unwrap();
        assert!(matches!(listed(&with("usd")).1, Basis::Listed(_)));
        let euros = with(" eur ");
        assert_eq!(euros.currency, "EUR");
        // So many dollars are not so many euros: it counts as the dearest that has a price in euros.
        assert_eq!(listed(&euros), (Price::flat(1.0, 2.0), Basis::Dearest));
        assert!(euros.context_of("gpt-4o").is_some());
    }
}
