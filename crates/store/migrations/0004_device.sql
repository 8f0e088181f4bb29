-- What the browser that signed in is called.
ALTER TABLE token ADD COLUMN device TEXT;
