"""The sections of the settings, a file for each: names, defaults, ranges, units and sentences. They read no file."""
