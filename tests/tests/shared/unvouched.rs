//! A server with a certificate that it has made for itself.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// Listens with TLS on 127.0.0.1. Nobody that checks certificates gets as far as asking something.
pub(crate) struct Unvouched {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    asked: Arc<AtomicUsize>,
}

impl Unvouched {
    pub(crate) async fn start() -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            connections: Arc::default(),
            asked: Arc::default(),
        };
        let (connections, asked) = (Arc::clone(&server.connections), Arc::clone(&server.asked));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                if acceptor.accept(stream).await.is_ok() {
                    asked.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        server
    }

    /// `https://127.0.0.1:PORT/v1`
    pub(crate) fn url(&self) -> String {
        format!("https://{}/v1", self.address)
    }

    /// How often somebody connected.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// How often somebody accepted the certificate.
    pub(crate) fn accepted(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}
