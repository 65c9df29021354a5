//! What tokens cost.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Price of one model, in units of the user's currency per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Per million tokens of the messages.
    pub input: f64,
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
    /// The price of so many tokens in millionths of the currency, rounded up.
    ///
    /// Units per million tokens are millionths per token, so this is a plain product.
    #[must_use]
    pub fn micros(self, input_tokens: u64, output_tokens: u64) -> u64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "token counts stay far below 2^53"
        )]
        let micros = (input_tokens as f64 * self.input + output_tokens as f64 * self.output).ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the cast saturates, and a negative or undefined price is refused by `given`"
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
            (Some(one), None) | (None, Some(one)) => Some(Self {
                input: one,
                output: one,
            }),
            (Some(input), Some(output)) => Some(Self { input, output }),
        }
    }
}

/// The prices that are known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// What the user says any model costs.
    pub given: Option<Price>,
    /// Prices of models by name.
    pub known: BTreeMap<String, Price>,
}

impl Prices {
    /// The price of `model`: its own, else the given one, else the dearest that is known.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<Price> {
        self.known.get(model).copied().or(self.given).or_else(|| {
            self.known.values().copied().reduce(|a, b| Price {
                input: a.input.max(b.input),
                output: a.output.max(b.output),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_rounded_up_to_millionths() {
        let price = Price {
            input: 0.25,
            output: 1.25,
        };
        assert_eq!(price.micros(3, 0), 1);
        // 1,000 × 0.25 + 100 × 1.25 = 375 millionths.
        assert_eq!(price.micros(1000, 100), 375);
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
        let mut prices = Prices::default();
        assert_eq!(prices.of("m"), None);
        prices.known.insert(
            "a".into(),
            Price {
                input: 1.0,
                output: 2.0,
            },
        );
        prices.known.insert(
            "b".into(),
            Price {
                input: 0.5,
                output: 9.0,
            },
        );
        assert_eq!(
            prices.of("a"),
            Some(Price {
                input: 1.0,
                output: 2.0
            })
        );
        assert_eq!(
            prices.of("m"),
            Some(Price {
                input: 1.0,
                output: 9.0
            })
        );
        prices.given = Price::given(0.0, 3.0);
        assert_eq!(
            prices.of("m"),
            Some(Price {
                input: 3.0,
                output: 3.0
            })
        );
        assert_eq!(Price::given(0.0, f64::NAN), None);
    }
}
