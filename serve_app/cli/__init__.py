"""The ``shortlist`` console command, one file per subcommand."""
