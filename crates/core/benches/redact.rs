//! Throughput of redaction, in MB/s, on ordinary and on hostile text.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use skillopt_core::redact::redact;

const SIZE: usize = 1 << 20;

fn filled(pieces: &[&str]) -> String {
    let mut text = String::with_capacity(SIZE + 1024);
    let mut number = 0_u64;
    while text.len() < SIZE {
        for piece in pieces {
            number += 1;
            text.push_str(&piece.replace("{n}", &number.to_string()));
        }
    }
    text
}

fn texts() -> Vec<(&'static str, String)> {
    let prose = filled(&[
        "The gate compares paired scores on held-out tasks, and keeps the candidate only when the mean is better. ",
        "Nobody reads the report at three in the morning; what it says has to be true at breakfast as well. ",
        "Each token the model reads costs something, so the key idea is to ask once and remember ({n}).\n",
        "A secret of good tools is that they say what they will do, do it, and can undo it again.\n",
    ]);
    let code = filled(&[
        "pub fn parse(&mut self, tokens: &[Token]) -> Result<Node, ParseError> {\n",
        "    let token = self.peek().ok_or(ParseError::Eof)?;\n    match token.kind {\n",
        "        TokenKind::Ident(name) if self.keys.contains_key(name) => self.advance(),\n",
        "        _ => return Err(ParseError::Unexpected { line: {n}, msg: self.msg.clone() }),\n    }\n}\n\n",
        "const config = { retries: {n}, basePath: '/api/v2', headers: { 'Content-Type': 'application/json' } };\n",
        "for (const [key, value] of Object.entries(items)) { out.push(`${key}=${value}`); }\n",
    ]);
    let transcript = filled(&[
        "{\"parentUuid\":\"550e8400-e29b-41d4-a716-446655440000\",\"sessionId\":\"9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d\",",
        "\"cwd\":\"/home/user/project\",\"version\":\"2.0.{n}\",\"type\":\"assistant\",\"message\":{\"id\":\"msg_01Ab{n}\",",
        "\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"I have changed the parser.\\n\\nIt now keeps comments.\"}],",
        "\"usage\":{\"input_tokens\":{n},\"cache_read_input_tokens\":12000,\"output_tokens\":{n}}},",
        "\"timestamp\":\"2026-03-01T12:00:00.000Z\",\"toolUseResult\":{\"stdout\":\"test result: ok. {n} passed\\n\",\"stderr\":\"\"}}\n",
    ]);
    let chain = "a_".repeat(SIZE / 2);
    let secrets = filled(&[
        "export API_KEY=sk-proj-abcdefghij{n} && curl -H 'Authorization: Bearer eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK' x\n",
        "{\"password\": \"hunter{n}\", \"db\": \"postgres://app:s3cr3t{n}@db/x\"}\nPassword=abc{n};AKIAIOSFODNN7EXAMPLE\n",
    ]);
    vec![
        ("prose", prose),
        ("code", code),
        ("transcript", transcript),
        ("a_a_a_", chain),
        ("secrets", secrets),
    ]
}

fn throughput(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("redact");
    group.sample_size(20);
    for (name, text) in texts() {
        // Decimal megabytes per second is bytes per microsecond.
        group.throughput(Throughput::BytesDecimal(text.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| redact(std::hint::black_box(&text)).count);
        });
    }
    group.finish();
}

criterion_group!(benches, throughput);
criterion_main!(benches);
