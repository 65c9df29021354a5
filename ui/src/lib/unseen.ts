/** Characters that nobody sees, or that turn the direction of what is beside them: what a model wrote must
 * not look like something else where a person decides. The same ones as in the terminal (`acts` in
 * `crates/core/src/text.rs`). */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** The text with such characters written out, as `\u{202e}`; line breaks and tabs stay. */
export function seen(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
