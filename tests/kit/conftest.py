"""One hypothesis profile for all tests of the kit: no deadline, since machines differ in speed."""

from hypothesis import settings

settings.register_profile("kit", deadline=None)
settings.load_profile("kit")
