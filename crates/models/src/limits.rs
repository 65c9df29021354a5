//! How many calls a provider is asked at once, and when it is asked next.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::cancel::CancelToken;
use crate::error::CallError;

/// The limits of every provider, shared by all nights of this process.
#[derive(Debug)]
pub struct Limits {
    concurrency: usize,
    providers: Mutex<BTreeMap<String, Arc<Provider>>>,
}

#[derive(Debug)]
struct Provider {
    places: Arc<Semaphore>,
    /// A provider that asked to wait is left alone until then.
    not_before: Mutex<Option<Instant>>,
}

/// A place among the calls a provider is asked at once; given back when dropped.
#[derive(Debug)]
pub struct Place {
    _permit: OwnedSemaphorePermit,
    provider: Arc<Provider>,
}

impl Limits {
    /// At most `concurrency` calls in flight per provider, at least one.
    #[must_use]
    pub fn new(concurrency: usize) -> Arc<Self> {
        Arc::new(Self {
            concurrency: concurrency.max(1),
            providers: Mutex::default(),
        })
    }

    /// Waits for a place with `provider`. [`CallError::Cancelled`] when `cancel` is raised meanwhile.
    pub async fn place(&self, provider: &str, cancel: &CancelToken) -> Result<Place, CallError> {
        let provider = self.provider(provider);
        let places = Arc::clone(&provider.places);
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(CallError::Cancelled),
            permit = places.acquire_owned() => {
                // The semaphore is never closed.
                let permit = permit.map_err(|_| CallError::Cancelled)?;
                Ok(Place { _permit: permit, provider })
            }
        }
    }

    fn provider(&self, name: &str) -> Arc<Provider> {
        let mut providers = self
            .providers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let provider = providers.entry(name.to_owned()).or_insert_with(|| {
            Arc::new(Provider {
                places: Arc::new(Semaphore::new(self.concurrency)),
                not_before: Mutex::new(None),
            })
        });
        Arc::clone(provider)
    }
}

impl Place {
    /// Nobody asks this provider again before `wait` is over.
    pub fn slow_down(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut not_before = self
            .provider
            .not_before
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if not_before.is_none_or(|known| known < until) {
            *not_before = Some(until);
        }
    }

    /// Waits until the provider may be asked.
    pub async fn ready(&self, cancel: &CancelToken) -> Result<(), CallError> {
        loop {
            let until = *self
                .provider
                .not_before
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            match until {
                Some(until) if until > Instant::now() => {
                    tokio::select! {
                        biased;
                        () = cancel.cancelled() => return Err(CallError::Cancelled),
                        () = tokio::time::sleep_until(until) => {}
                    }
                }
                _ => return Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn places_are_counted_per_provider_and_given_back() {
        let limits = Limits::new(1);
        let cancel = CancelToken::new();
        let place = limits.place("a", &cancel).await.unwrap();
        limits.place("b", &cancel).await.unwrap();
        let waiting =
            tokio::time::timeout(Duration::from_secs(1), limits.place("a", &cancel)).await;
        assert!(waiting.is_err());
        drop(place);
        limits.place("a", &cancel).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_provider_that_asks_to_wait_is_left_alone_by_everybody() {
        let limits = Limits::new(2);
        let cancel = CancelToken::new();
        let (one, two) = (
            limits.place("a", &cancel).await.unwrap(),
            limits.place("a", &cancel).await.unwrap(),
        );
        one.slow_down(Duration::from_secs(30));
        one.slow_down(Duration::from_secs(5));
        let before = Instant::now();
        two.ready(&cancel).await.unwrap();
        assert_eq!(before.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test]
    async fn waiting_ends_when_the_night_is_stopped() {
        let limits = Limits::new(1);
        let cancel = CancelToken::new();
        let place = limits.place("a", &cancel).await.unwrap();
        place.slow_down(Duration::from_secs(3600));
        cancel.cancel();
        assert_eq!(place.ready(&cancel).await, Err(CallError::Cancelled));
        assert_eq!(
            limits.place("a", &cancel).await.unwrap_err(),
            CallError::Cancelled
        );
    }
}
