//! Every setting once, with its type, default and text, and the layers it can come from.
