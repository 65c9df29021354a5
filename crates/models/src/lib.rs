//! Asking a model: one file per backend, and the one path every call takes.
