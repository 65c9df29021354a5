//! One night: harvest, mine, replay, reflect, gate, stage; and after it adopt, reject, roll back.
