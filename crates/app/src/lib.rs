//! What a user can do, as free functions over a context: the one list of commands.
