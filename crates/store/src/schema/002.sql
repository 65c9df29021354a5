-- Tokens read from a provider's cache cost less than others; NULL where nobody counted them.
ALTER TABLE attempt ADD COLUMN cached_tokens INTEGER;
