"""What holds for every test: how properties are tried."""

from hypothesis import settings

# A slow machine is no counter-example: time limits are tested where time is the subject.
settings.register_profile("shortlist", deadline=None)
settings.load_profile("shortlist")
