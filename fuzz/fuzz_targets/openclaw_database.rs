#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skillopt_fuzz::openclaw_database(data));
