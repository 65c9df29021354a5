//! Where each coding agent keeps its sessions, and how they are read.
