//! macOS: batteries by IOKit. Whether a network is metered is not asked.

use skillopt_transcripts::Power;
use starship_battery::units::ratio::percent;
use starship_battery::{Battery, Manager, State};

/// What runs the computer. One without a battery is on power.
pub(super) fn power() -> Power {
    let Ok(batteries) = Manager::new().and_then(|manager| manager.batteries()) else {
        return Power::default();
    };
    let batteries: Vec<Battery> = batteries.flatten().collect();
    let Some(first) = batteries.first() else {
        return Power {
            on_power: Some(true),
            charge: None,
        };
    };
    Power {
        on_power: match first.state() {
            State::Charging | State::Full | State::Paused => Some(true),
            State::Discharging | State::Empty => Some(false),
            State::Unknown => None,
        },
        charge: whole(first.state_of_charge().get::<percent>()),
    }
}

/// Not known: the system tells it to whoever waits for a change, not to whoever asks.
pub(super) const fn metered() -> Option<bool> {
    None
}

fn whole(charge: f32) -> Option<u8> {
    (0_u8..=100).find(|whole| f32::from(*whole) + 0.5 > charge)
}
