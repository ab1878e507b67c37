"""Files that people and other tools read and write, in and out: a reader names what it does not take."""
