"""One file per catalogue format; each turns a file into raw record mappings and refuses bad ones by name."""
