"""The words of a copier: a pass-through application in front of control topics, which runbooks only stop and start."""

from typing import Final, Literal

# In the place of a release: a copier runs what its team has deployed, and no runbook changes that.
AS_DEPLOYED: Final = "as-deployed"

# Under `exactly_once` a record is copied exactly once, also after a kill; under `at_least_once` a kill may repeat some.
CopierDelivery = Literal["exactly_once", "at_least_once"]
